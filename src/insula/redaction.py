"""Secrets out of a text before it is stored, shown or sent: each becomes `[REDACTED:kind]`.

Three tables: tokens with a shape of their own, values that a place gives away (a URL, a header), and values that a
name gives away (`password = …`, "my password is …"). The hook of a coding agent pays for every import and every
compiled pattern, so a pattern is compiled when one of its literal marks first stands in a text. All of it is linear:
what repeats is bounded or possessive, or ends where the next match could begin.
"""

import re
from functools import cache

TYPE_CHECKING = False  # `typing` and `collections.abc` cost the hook half a millisecond
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Rule = tuple[str, str, str, Callable[[str], bool] | None]  # kind, marks, pattern, test of the value

Match = re.Match[str]
Span = tuple[int, int, int, str]
"""Start, end, rank and kind of a secret; of two that overlap the lower rank names it."""

_MARKER = r"\[REDACTED:([a-z_]+)\]"
_ROUNDS = 4
"""A replacement may lay bare the edge of another secret; no text is known that needs more than two rounds."""


def redact(text: str) -> str:
    """`text` with every secret replaced by `[REDACTED:kind]`, and all else as it was."""
    for _ in range(_ROUNDS):
        spans = _merged(_found(_compiled(_MARKER).sub(_wall, text) if "[REDACTED:" in text else text))
        if not spans:
            break
        text = _replaced(text, spans)
    return text


def without_markers(text: str) -> str:
    """`text` without the markers that `redact` left: they are no words of the speaker's."""
    return re.sub(r"\[REDACTED:[^\]]{1,40}\]", " ", text)


def is_redacted(text: str) -> bool:
    """Whether `redact` took something out of `text`."""
    return without_markers(text) != text


def kinds(text: str) -> tuple[str, ...]:
    """The kinds of secret in `text` (those already redacted among them), each once, in order of appearance."""
    return tuple(dict.fromkeys(_compiled(_MARKER).findall(redact(text))))


def _wall(marker: Match) -> str:
    return '"' * len(marker[0])  # no value reaches across so many quotes


def _found(text: str) -> "Iterator[Span]":
    lower = text.lower()
    if len(lower) != len(text):  # one letter, İ, would become two
        lower = text.replace("İ", "i").lower()
    for rank in sorted({rank for mark, rank in _TOKEN_MARKS if mark in text}):
        yield from _shaped(text, text, rank)
    for rank in sorted({rank for mark, rank in _PLACE_MARKS if mark in lower}):
        yield from _shaped(text, lower, rank)
    for marks, names in _NAMES:
        if any(mark in lower for mark in marks):
            yield from _named(text, lower, names)


def _shaped(text: str, haystack: str, rank: int) -> "Iterator[Span]":
    kind, marks, pattern, test = _RULES[rank]
    compiled = _compiled(pattern, marks)
    group = compiled.groupindex.get("s", 0)
    for match in compiled.finditer(haystack):
        start, end = match.span(group)
        if test is None or test(text[start:end]):
            yield start, end, rank, kind


def _named(text: str, lower: str, names: str) -> "Iterator[Span]":
    done = 0
    for name in _compiled(names).finditer(lower):
        if name.start() < done:
            continue
        for form, after, test in _FORMS:
            if lower[name.end() : name.end() + 1] in after and (match := _compiled(form).match(lower, name.end())):
                start, end = match.span("s")
                if found := test(text, name, match):
                    yield start, end, len(_RULES), _kind(name)
                if found or end - start > 64:  # a shorter one may hold a name with a value of its own
                    done = end
                break


def _merged(spans: "Iterator[Span]") -> list[Span]:
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and span[0] < merged[-1][1]:
            start, end, rank, kind = merged[-1]
            merged[-1] = (start, max(end, span[1]), *min((rank, kind), span[2:]))
        else:
            merged.append(span)
    return merged


def _replaced(text: str, spans: list[Span]) -> str:
    out: list[str] = []
    last = 0
    for start, end, _, kind in spans:
        out += text[last:start], "[REDACTED:", kind, "]"
        last = end
    return "".join(out) + text[last:]


@cache
def _compiled(pattern: str, marks: str = "") -> "re.Pattern[str]":
    if pattern[0] == "^":
        begins = (_BEGINS.replace("MARK", re.escape(mark)) for mark in marks.split(","))
        pattern = f"(?:{'|'.join(begins)}){pattern[1:]}"
    return re.compile(re.sub(r"\{([A-Z]+)\}", lambda part: _PARTS[part[1]], pattern), re.ASCII)


# --- what a value must look like ---------------------------------------------------------------------------------

_REFERENCE = (  # a variable, a path, a sequence, the name of an algorithm: nothing is hidden in it
    r"[<{(\[|:]|\$[a-z_{(]|\$\d$|%[a-z({]|[@!][a-z_]+$|#\{|\*\*|\d?1234567\d*$|abcdef\w*$"
    r"|(?:[a-z]:|~|\.{0,2})[/\\][\w.@~+-]+(?:[/\\.]|$)"
    r"|(?:sha|md|utf|base|[rhep]s|oauth|argon|aes|rsa|bcrypt|ipv|v|gpt)[-_]?\d+[a-z-]{0,9}$"
)
_PLACEHOLDER = r"example|your|placeholder|change[_-]?me|dummy|sample|redacted|replace|xxx|\*\*\*|\.\.\.|…|•|://"
_EMPTY_WORDS = (
    " pass password passwd passwort kennwort contraseña senha secret token key string text none null undefined true"
    " false required optional default value test hidden plaintext hashed bearer basic "
)
_WORDY = r"[A-Za-z]+\d?$|{PIECE}(?:[-_./:@ ]+{PIECE})+$"  # `linux-build-v2`
_MIXED = r"(?=[^A-Za-z]*[A-Za-z])(?=[^\d!@#$%^&*+=?~]*[\d!@#$%^&*+=?~])|\d{6,}$"  # `hunter2`, `p@ss`, `123456`
_CODED = r"\d|[a-z][A-Z]"
_NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$"
_HEX = r"(?i)[0-9a-f-]+$|.*[0-9a-f]{32}"
_CARD = r"4(?:.{12}|.{15}|.{18})$|(?:5[1-5]|2[2-7]|6[0245]|35).{14}$|62.{14,17}$|3[47].{13}$|3[068].{12}$"
_DOUBLED = str.maketrans("0123456789", "0246813579")


def _trivial(value: str) -> bool:
    start = value[:200].lower()
    if len(set(start)) < 4 or f" {start.rstrip('0123456789')} " in _EMPTY_WORDS:
        return True
    return (_compiled(_REFERENCE).match(start) or _compiled(_PLACEHOLDER).search(start)) is not None


def _solid(value: str) -> bool:
    return not _trivial(value)


def _mixed(value: str) -> bool:
    return _compiled(_MIXED).match(value.rstrip("!?.,:;")) is not None and not _trivial(value)


def _coded(value: str) -> bool:
    """Whether a value is no plain word: it has a digit, or capitals among small letters."""
    return _compiled(_CODED).search(value) is not None and not _trivial(value)


def _token(value: str) -> bool:
    """Whether a value is long and no phrase."""
    if len(value) < 8 or " " in value or _compiled(_WORDY).match(value) or _trivial(value):
        return False
    digits = any(digit in value for digit in "0123456789")
    return value.lower() != value.upper() and (digits or (len(value) >= 20 and _coded(value)))


def _key(value: str) -> bool:
    """`key` alone names many things: only a long, dense value that is no hash or identifier counts."""
    return len(value) >= 16 and len(set(value)) >= 10 and _token(value) and not _compiled(_HEX).match(value)


def _quoted(value: str) -> bool:
    return len(value) >= 6 and " " not in value and not _trivial(value)


def _in_url(value: str) -> bool:
    return value[0] not in "$<{*%(["


def _tail(value: str) -> bool:
    return re.search(r"[A-Za-z0-9+/=]{20}", value) is not None


def _luhn(value: str) -> bool:
    digits = value.replace(" ", "").replace("-", "")
    if not _compiled(_CARD).match(digits) or len(set(digits)) < 2:
        return False
    return sum(map(int, digits[-1::-2] + digits[-2::-2].translate(_DOUBLED))) % 10 == 0


# --- what a name gives away --------------------------------------------------------------------------------------

_STRONG_KEY = (
    r"(?:api|access|secret|private|signing|encryption|auth|account|master|service|app|shared|client|session|jwt|deploy"
    r"|licen[cs]e|webhook|admin|storage|subscription|ssh|db)[ _.-]?$"
)
_CODE = (  # `settings.db.password`, `user_password2`
    r"(?i)[a-z_$][\w$]*(?:(?:\??\.|::|->)[a-z_$][\w$]*)+$"
    r"|(?=[a-z_]+$|[a-z]\w*_\w*$).*?(?:pass|pwd|token|key|secret|cred|auth|user|value|var|param|arg|conf|env|input|hash)"
)
_OWNER = r"\b(?:my|our|mi|nuestra|mon|notre|meine?|unser|minha|nossa|mia)\s+(?:[^\s.,;:!?]{1,20}\s+){0,3}$"
_ENDED = r"\s*(?:$|[.!,;\n]|(?:and|y|et|und|e)\b)"
_STATES = (
    " not wrong right correct incorrect invalid valid expired missing weak strong secure insecure safe long short empty"
    " blank unknown required needed optional stored saved kept hashed encrypted changed reset being going always never"
    " still also just only really very that this what where there here easy hard same different somewhere secret"
    " private public leaked compromised working broken visible hidden used asked over with from case about "
)
_KINDS = {
    "auth": "key",
    "authorization": "token",
    "credential": "secret",
    "credentials": "secret",
    "jeton": "token",
    "mnemonic": "secret",
    "secret": "secret",
    "token": "token",
}
_TESTS = {"key": _key, "password": _mixed}


def _kind(name: Match) -> str:
    if name[0] == "key":
        before = name.string[max(0, name.start() - 16) : name.start()]
        return "api_key" if _compiled(_STRONG_KEY).search(before) else "key"
    return _KINDS.get(name[0], "password")


def _flag(text: str, name: Match) -> bool:
    """Whether the name is that of a command's option: `--db-password`."""
    before = text[max(0, name.start() - 32) : name.start()]
    blank = max(before.rfind(" "), before.rfind("\n"), before.rfind("\t"))
    return before.startswith("-", blank + 1)


def _literal(text: str, name: Match, match: Match) -> bool:
    """Whether the form admits no variable: `NAME=value` of an environment file, `--name=value` of a command."""
    if match["sep"] not in ("=", ":") or text[match.start("sep") - 1] in " \t":
        return False
    return text[name.start() : name.end()].isupper() or _flag(text, name)


def _assigned(text: str, name: Match, match: Match) -> bool:
    start, end = match.span("s")
    if end - start < (8 if name[0] == "key" or name[0] in _KINDS else 4):
        return False
    value, kind = text[start:end], _kind(name)
    if match["q"]:
        return (_quoted if kind == "password" else _TESTS.get(kind, _token))(value)
    if '"' in text[name.end() : start] and _compiled(_NUMBER).match(value):  # JSON takes no marker for a number
        return False
    literal = _literal(text, name, match)
    test = _solid if kind == "password" and literal else _TESTS.get(kind, _token)
    return test(value) and text[end : end + 1] not in tuple("([{") and (literal or not _compiled(_CODE).match(value))


def _spoken(text: str, name: Match, match: Match) -> bool:
    start, end = match.span("s")
    value = text[start:end]
    if _kind(name) == "key" or f" {value.lower()} " in _STATES or _trivial(value):
        return False
    if _mixed(value) or (match["q"] and not _compiled(_CODE).match(value)):
        return True
    mine = _compiled(_OWNER).search(name.string[max(0, name.start() - 64) : name.start()])
    return mine is not None and _compiled(_ENDED).match(text[end : end + 8]) is not None


def _option(text: str, name: Match, match: Match) -> bool:
    return _flag(text, name) and _TESTS.get(_kind(name), _token)(text[match.start("s") : match.end("s")])


# --- the tables --------------------------------------------------------------------------------------------------

_BEGINS = r"MARK(?:(?<![\w-]MARK)|(?<=\\[nrt]MARK)|(?<=%[0-9A-Fa-f]{2}MARK))"
_PARTS = {
    "CUT": r"\s*+(?:\Z|\.\.\.|…|\[)",
    "PEM": r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----",
    "GAP": r"""(?:\s|\\[nrt]|["'] *\+?\s*\n\s*["']|Proc-Type:[^\n\\]*|DEK-Info:[^\n\\]*)*+""",
    "PIECE": r"(?:[A-Za-z]{1,24}\d{0,2}|[Vv]?\d{1,4})",
    "QUOTES": r"""(?:\\{0,3}["'])?\s{0,2}[:=]\s{0,2}(?:\\{0,3}["'])?""",
    # quoted up to the same quote (or one that ends a string of JSON); a name before a bracket; up to a delimiter
    "VALUE": r"""(?P<q>\\{0,3}["'`])?"""
    r"""(?P<s>(?(q)(?:(?!(?P=q))(?:\\.|[^\r\n\\"]|"(?![\s,:}\]]|\Z))){1,4096}"""
    r"""|(?:[a-z_][\w.]*+(?=[(\[{])|(?:[^\s"'`\\,;&<>]|\\(?![nrtu"'`\\]))+(?<![)\]}.:]))))""",
}

# Kind, marks (one of them must stand in the text), pattern. The secret is group `s`, else the whole match.
# `^` stands for a mark where a word begins (in JSON, after a written `\n`; in a URL, after `%3D`).
_TOKENS = r"""
private_key  PRIVATE                              -----BEGIN {PEM}[^-]*+(?:-(?!----)[^-]*+)*+-----END {PEM}
private_key  PRIVATE                              -----BEGIN {PEM}(?:{GAP}[\w+/=]{20,})*+(?:{GAP}[\w+/=]++(?={CUT}))?
anthropic    sk-ant-                              ^[\w-]{16,}
openai       sk-                                  ^(?=[\w-]*\d)(?:\w{24,}|(?=[\w-]*[A-Z])[\w-]{20,}|or-v1-\w{20,})
google       AIza,ya29.,GOCSPX-,1//0              ^[\w-]{24,}
aws          AKIA,ASIA,ABIA,ACCA                  ^[A-Z0-9]{16}(?![A-Za-z0-9])
aws          AKIA,ASIA                            ^[A-Z0-9]{16}["'\s,:;|]{1,6}(?P<s>[A-Za-z0-9/+]{40})(?![\w/+=])
github       ghp_,gho_,ghu_,ghs_,ghr_,github_pat_ ^\w{22,}(?:\.[\w-]{20,}){0,2}
gitlab       glpat-,gldt-,glrt-,glcbt-,glptt-     ^[\w.-]{18,}\w
gitlab       glft-,glimt-,glsoat-,gloas-          ^[\w.-]{18,}\w
slack        xoxa-,xoxb-,xoxe-,xoxe.,xoxp-        ^[\w.-]{10,}\w
slack        xoxo-,xoxr-,xoxs-,xapp-              ^[\w.-]{10,}\w
slack        hooks.slack.com/                     ^(?P<s>(?:services|workflows|triggers)/[\w/]{20,})
stripe       sk_live_,sk_test_,rk_live_,rk_test_  ^\w{10,}
stripe       whsec_                               ^[\w+/=]{20,}
twilio       SK,AC                                ^[0-9a-f]{32}(?!\w)
sendgrid     SG.                                  ^[\w-]{16,40}\.[\w-]{16,}
npm          npm_                                 ^[A-Za-z0-9]{30,}
pypi         pypi-                                ^[\w-]{50,}
huggingface  hf_,api_org_                         ^[A-Za-z0-9]{30,}
azure        Q~                                   [\w~.-]{3}\dQ~[\w~.-]{31,}
digitalocean dop_v1_,doo_v1_,dor_v1_              ^[0-9a-f]{40,}
telegram     :AA                                  (?:(?<!\w)|(?<=\\[nrt]))\d{8,10}:AA[\w-]{33,}
discord      MD,MT,Mj,Mz,ND,NT,Nj,Nz,OD,OT        ^[\w-]{21,26}\.[\w-]{6}\.[\w-]{27,}
jwt          eyJ                                  ^[\w-]{10,}\.[\w-]{10,}(?:\.[\w-]*)?
token        gsk_,xai-,pplx-,r8_,ntn_,lin_api_    ^[\w-]{20,}
token        sbp_,figd_,nfp_,hvs.,glsa_,ATATT3    ^[\w=-]{20,}
token        shpat_,shpss_,shppa_,PMAK-,NRAK-     ^[\w-]{20,}
token        dapi,AGE-SECRET-KEY-1                ^[0-9A-Za-z]{32,}
"""

# The same for the text in small letters; the test sees the value as it is written.
_PLACES: "tuple[Rule, ...]" = (
    ("private_key", "-----end", r"(?<![\w+/=\s\\])(?P<s>[\w+/=\s\\]++)-----end [a-z0-9 ]{0,40}private key", _tail),
    ("url", "://", r"""://[^\s/:@"'<>\\]{0,128}:(?P<s>[^\s/"'<>\\?]{1,256})@""", _in_url),
    ("url", "://", r"://(?P<s>[\w-]{20,256})@", _token),
    ("azure", "accountkey=,accesskey=,sig=", r"(?:(?:account|access)key|[?&;]sig)=(?P<s>[\w+/%=-]{30,})", None),
    (
        "authorization",
        "authorization",
        r"""authorization{QUOTES}(?:bearer|basic|token|digest|apikey)\s+(?P<s>[^\s"'\\,;]{6,})""",
        _coded,
    ),
    ("authorization", "bearer", r"bearer\s+(?P<s>[\w.~+/=-]{16,})", _token),
    ("cookie", "cookie", r"""cookie{QUOTES}(?P<s>[\w.-]+=[^\r\n"'\\]{8,})""", _coded),
    ("password", "curl,wget", r"""\s--?u(?:ser)?[ =]["']?[^\s:"']{1,64}:(?!\d+\b)(?P<s>[^\s"'\\@]{3,})""", _solid),
    ("password", "login", r"""\blogin[ \t]+\S{1,64}[ \t]+password[ \t]+(?P<s>[^\s"'\\]{3,})""", _solid),
    ("password", "sshpass", r"""sshpass\s+-p\s*["']?(?P<s>[^\s"'\\]{3,})""", _solid),
    (
        "pin",
        "pin",
        r"\b(?:my|our|mi|mon|meine?|minha|meu|mio)\s(?:\w+ ){0,2}pin(?: code)? \S{1,4} (?P<s>\d{4,8})\b",
        None,
    ),
    (
        "card",
        "0,1,2,3,4,5,6,7,8,9",
        r"[2-6](?:(?<![\w.+/-].)|(?<=\\[nrt].))"
        r"(?:\d{12,18}|\d{3}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?|\d{3}([ -])\d{6}\2\d{4,5})(?!\w|[.-]\d)",
        _luhn,
    ),
)

# The names, in parts so that English does not pay for the other languages: marks, pattern.
_NAMES = (
    (
        ("pass", "pwd", "pw=", "pw:", "key", "token", "secret", "auth", "credential", "mnemonic"),
        r"passw(?:or)?d|passphrase|passcode|pass(?=\\{0,3}[\"'=])|pass(?<=[_-]pass)|pwd|pw(?<![a-z]pw)(?=[=:])|token"
        r"|secret|credentials?|mnemonic|authorization|auth(?<![a-z]auth)|key(?<!pubkey)(?<!publickey)(?<!public[_-]key)",
    ),
    (
        ("passw", "kennw", "contrase", "senha", "passe", "clave", "jeton", "schl", "chave", "chiave", "clé", "cle "),
        r"passwort|kennwort|contrase(?:ñ|n)a|senha|mot de passe|clave|jeton|schl(?:ü|ue)ssel|chave|chiave|cl(?:é|e) ",
    ),
    (
        ("密码", "密碼", "口令", "密钥", "金鑰", "令牌", "パスワード", "暗証番号", "キー", "トークン"),
        r"密码|密碼|口令|密钥|金鑰|令牌|パスワード|暗証番号|キー|トークン",
    ),
)
# What follows a name: pattern, the characters it can begin with, test.
_FORMS = (
    (  # `=`, `:`, `=>`, `: str =`, `>`, or the `value:` that follows a `name:`
        r"""(?:[_-]?\d{1,2}|_(?:base|value|prod|dev|test|live))?\\{0,3}["'`]?\]?[ \t]{0,3}"""
        r"""(?P<sep>:[ \t]?[a-z][\w.\[\]| ]{0,30}?[ \t]=(?!=)|[:!=]?=>?|:|>"""
        r"""|["'\\]{0,2},?\s{1,20}["'\\]{0,4}value["'\\]{0,4}:)[ \t]{0,8}{VALUE}""",
        "_-1234567890\\\"'`] \t\n:=!>,",
        _assigned,
    ),
    (  # "is", perhaps after "for the router"
        r"(?:\s+(?:for|to|of|on|del?|para|pour|für|per|von|da|do|di|api)(?:\s+[^\s.,;:!?]{1,20}){0,4}?)?"
        r"(?:(?:\s+(?:is|was|es|est|c'est|ist|lautet|war|sera|será|é|è)|'s)(?:\s+(?:now|actually|set to))?\s*:?\s+"
        r"|\s*(?:是|为|為|は|：)\s*)"
        r"""(?P<q>["'`“‘«「])?(?P<s>[!#-&(-\[\]-_a-~à-ɏ]{4,128}(?<![.,;:)\]]))""",
        " '是为為は：",
        _spoken,
    ),
    (r"[ \t]+{VALUE}", " \t", _option),
)

_SHAPES = [line.split(None, 2) for line in _TOKENS.strip().splitlines()]
_RULES: "tuple[Rule, ...]" = (*((kind, marks, pattern, None) for kind, marks, pattern in _SHAPES), *_PLACES)
_MARKS = [(mark, rank) for rank, rule in enumerate(_RULES) for mark in rule[1].split(",")]
_TOKEN_MARKS = [(mark, rank) for mark, rank in _MARKS if rank < len(_SHAPES)]
_PLACE_MARKS = [(mark, rank) for mark, rank in _MARKS if rank >= len(_SHAPES)]
