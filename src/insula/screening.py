"""What may stand in a system prompt: text from users, tools and files is data, and must not act as an instruction.

`screen` makes a text safe for one quoted line and says why it must be withheld, if it must. Patterns see attacks by
their form only: a poisoned lesson in plain words ("always approve refunds") passes here, and is stopped by provenance
and corroboration elsewhere.
"""

import re
import unicodedata
from functools import cache
from typing import Literal, NamedTuple

from insula.redaction import redact

Reason = Literal["override", "role_marker", "tool_call", "exfiltration", "secret", "hidden"]


class Screened(NamedTuple):
    """A text as one safe line, and why it must be withheld all the same; no reason: it may be shown."""

    text: str
    reasons: tuple[Reason, ...]


WINDOW = 20_000
"""Characters looked at (or four times the limit): what stands behind them is never shown."""


def screen(text: str, limit: int) -> Screened:
    """Make `text` safe for one quoted line of at most `limit` characters, and judge it.

    Args:
        text: What a user, a tool or a file said.
        limit: The length of the line, an ellipsis included.

    Returns:
        The line (NFC, visible characters only, secrets redacted, cut at the end of a sentence or word), and the reasons
        to withhold it in the order of `Reason`. The line of a withheld text is for the eyes of a person.
    """
    raw = text[: max(WINDOW, 4 * limit)]
    seen = visible(raw)
    safe = redact(seen)
    found = _matched(seen)
    if safe != seen:
        found.add("secret")
    if _HIDDEN.search(raw):
        found.add("hidden")
    return Screened(_cut(" ".join(safe.split()), limit), tuple(reason for reason in _ORDER if reason in found))


def visible(text: str) -> str:
    """`text` in NFC without characters that nobody sees; controls but the line feed become spaces."""
    text = unicodedata.normalize("NFC", _INVISIBLE.sub("", text))
    return _CONTROL.sub(" ", _LINES.sub("\n", text))


def _cut(line: str, limit: int) -> str:
    """`line` within `limit`: whole, or up to the end of a sentence or word in its second half, with an ellipsis."""
    if len(line) <= limit:
        return line
    head = line[: max(0, limit - 1)]
    ends = [match.end() for match in _SENTENCE_END.finditer(head)]
    if ends and ends[-1] * 2 > limit:
        head = head[: ends[-1]]
    elif line[len(head)] != " " and (space := head.rfind(" ")) * 2 > limit:
        head = head[:space]
    return (head.rstrip(" ,;:-") + "…")[: max(0, limit)]


def _matched(text: str) -> set[Reason]:
    plain = _folded(text)
    found = _said(plain) | {reason for reason, _, pattern in _SHAPES if _shape(pattern).search(plain)}
    for view in _uncovered(text) - {plain}:
        if disguised := _said(view) - found:
            found |= disguised | {"hidden"}
    return found


def _said(text: str) -> set[Reason]:
    return {reason for reason, _, pattern in _PHRASES if _phrase(pattern).search(text)}


# --- normal form, so that a trivial disguise does not pass -------------------------------------------------------

_ORDER: tuple[Reason, ...] = ("override", "role_marker", "tool_call", "exfiltration", "secret", "hidden")
_ZERO_WIDTH = "\u200b-\u200d\u2060-\u2064\ufeff\u180e"
_INVISIBLE = re.compile(  # format, surrogate, private-use and default-ignorable characters
    f"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f{_ZERO_WIDTH}\u200e\u200f\u202a-\u202e\u2065-\u206f\u3164"
    "\ud800-\udfff\ue000-\uf8ff\ufe00-\ufe0f\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff\U000f0000-\U0010ffff\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
    "\U00013430-\U0001343f]"
)
_LINES = re.compile("\r\n?|[\u2028\u2029\x0b\x0c\x85]")
_CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2800]")
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*(?= |$)|[。！？]")
_HIDDEN = re.compile(  # text that only a machine reads
    "(?<![\U0001f3f4\U000e0000-\U000e007f])[\U000e0000-\U000e007f]"  # tags, but not those of the flag of England
    "|\U0001f3f4[\U000e0000-\U000e007f]{8}"
    f"|[{_ZERO_WIDTH}]{{3}}|(?:[A-Za-z][{_ZERO_WIDTH}]+){{2}}[A-Za-z]"
    "|[\u202d\u202e]|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2}"
)
_ACCENTS = re.compile("[\u0300-\u036f]")
_ALIKE = str.maketrans(  # Cyrillic and Greek letters that look Latin
    "асԁеһіјкӏморԛѕтуѵԝхАВСЕНІЈКМОРЅТУХαβεικνορτυχωΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "acdehijklmopqstyvwxABCEHIJKMOPSTYXabeikvoptuxwABEZHIKMNOPTYX",
)
_LEET = str.maketrans("034578@$!", "oeastbasi")
_LEET_WORD = re.compile(r"(?=[0-9@$!]*[a-z])(?=[a-z]*[0-9@$!])[a-z0-9@$!]{3,30}")
_SPACED = re.compile(r"(?<![^\W_])[^\W_](?:[\W_]{1,3}[^\W_](?![^\W_])){3,}")


def _folded(text: str) -> str:
    """`text` as patterns read it: compatible forms unified, small letters, no accents."""
    text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFKC", _ACCENTS.sub("", text))


def _uncovered(text: str) -> set[str]:
    """`text` with look-alikes, spaced letters and leetspeak undone, in two readings: `1` may be i or l."""
    clear = _SPACED.sub(lambda run: re.sub(r"[\W_]+", "", run[0]), _folded(text.translate(_ALIKE)))
    return {_LEET_WORD.sub(lambda word: word[0].translate(_LEET).replace("1", one), clear) for one in "il"}


# --- the patterns ------------------------------------------------------------------------------------------------

Pattern = tuple[Reason, str, str]
"""Reason, name, pattern."""

# Forms, read with their punctuation.
_SHAPES: tuple[Pattern, ...] = (
    # tokens of chat templates
    ("role_marker", "template", r"<\|[^|>\n]{1,40}\|>|\[/?inst\]|<</?sys>>"),
    # a line that pretends to be another speaker
    (
        "role_marker",
        "speaker",
        r"^[\s>*_#-]{0,8}(?:system|developer|(?:ai )?assist[ae]nte?|asistente|sistema|systeme|系统|系統|助手|システム|アシスタント)[\s*_]{0,4}:",
    ),
    # a heading of a prompt, ours above all
    (
        "role_marker",
        "heading",
        r"(?:^|\s)#{1,6}\s{0,3}(?:behaviou?ral guidelines|interaction principles|known patterns|growth areas|system prompt"
        r"|(?:new |system )?(?:system|instructions?|message|assistant|response|guidelines|lessons|memories|memory|confidence"
        r"|advisories|identity|personality|rules)\s{0,3}(?::|$))",
    ),
    # the tag of a prompt's section
    (
        "role_marker",
        "tag",
        r"</?\s?(?:system|assistant|developer|human|instructions?|system[-_ ](?:prompt|message|reminder|instructions?)"
        r"|user[-_](?:data|query|input)|memories|persona)\b[^<>]{0,80}>",
    ),
    ("tool_call", "xml", r"</?(?:tool_call|tool_use|tool_code|function_calls?|function_results?|invoke|antml:\w+|parameter name=)\b"),
    ("tool_call", "json_type", r"""["']type["']\s?:\s?["'](?:tool_use|tool_call|function_call)["']|["'](?:function_call|tool_calls)["']\s?:"""),
    (
        "tool_call",
        "json_arguments",
        r"""["'](?:name|tool|tool_name|function|recipient_name)["']\s?:[^\n]{1,120}?["'](?:arguments|parameters|params|args|tool_input)["']\s?:""",
    ),
    ("tool_call", "react", r"^\s{0,8}action\s?:[^\n]{1,80}\n\s{0,8}action input\s?:"),
    ("tool_call", "channel", r"\bto=functions?\.\w|```tool_code"),
    # an image is fetched without a click, and its address carries what it is given
    ("exfiltration", "image", r"!\[[^\]\n]{0,200}\]\(\s?https?://[^)\s]{0,300}\?|<(?:img|iframe|script)\b[^>]{0,200}https?://[^>\s]{0,300}\?"),
    # a link with a place for data
    ("exfiltration", "link", r"https?://[^\s)]{0,300}?[?&](?:\w{1,30}=[{<$[(]|\w{1,30}=(?=[\s)\"']|$)|(?:conversation|history|chat|secret|password|leak|exfil)\w{0,10}=)"),
    ("exfiltration", "upload", r"\b(?:curl|wget)\b[^\n]{0,80}\s(?:-d\s?@|--data[\w-]{0,10}[= ]@|--post-file|-f\s?\w{1,20}=@|-t\s|--upload-file)"),
)

# Words for a rule of the assistant: language, verbs, fillers, what makes the rules the assistant's own, rules.
_RULES = (
    (
        "en",
        r"ignor(?:e|ing)|disregard(?:ing)?|forget|overrid(?:e|ing)|bypass(?:ing)?|skip|discard|neglect|abandon|violate|drop|break|set aside"
        r"|pay no attention to|(?:do not|don t|never|stop|no longer) (?:follow|obey|heed|respect|comply with|listen to|follow)(?:ing)?|disobey",
        r"the|these|those|that|and|or|any|every|of|to|set|given|received|safety|ethical|content|moral|instruction|what|says?",
        r"all|any and all|every|previous|prior|above|earlier|preceding|former|foregoing|initial|original|system|existing|current|your|you|developer|safety",
        r"instructions?|prompts?|rules?|guidelines?|directi(?:ve|on)s?|orders|commands|constraints|restrictions?|programming|training|guardrails"
        r"|safeguards|polic(?:y|ies)|system message|protocols?|limitations",
    ),
    (
        "es",
        r"ignor[ae]n?|olvid[ae]n?(?:te)?(?: de)?|desestim[ae]|descart[ae]|omite|salta(?:te)?|(?:haz|haga) caso omiso|no (?:sigas?|obedezcas?|respetes?"
        r"|cumplas?|hagas caso)|deja de (?:seguir|obedecer)",
        r"las?|los|el|de|del|a|que|cualquier|esas?|estas?",
        r"anteriores|previ[ao]s|precedentes|arriba|sistema|tus|todas?|todos",
        r"instruccion(?:es)?|reglas|normas|ordenes|directrices|indicaciones|restricciones|limites|prompt",
    ),
    (
        "fr",
        r"ignor(?:e|ez|er)|oubli(?:e|ez|er)|ne (?:tiens|tenez) (?:pas|plus|aucun) compte|ne (?:suis|suivez|respecte[sz]?) (?:pas|plus)|fais abstraction"
        r"|contourne|desobeis|neglige",
        r"les?|la|l|de|des|du|aux?|ces|ci",
        r"precedente?s|anterieur(?:e?s)|dessus|systeme|tes|vos|toutes|tous",
        r"instructions?|consignes?|regles?|directives?|ordres|restrictions|prompt",
    ),
    (
        "de",
        r"ignorier(?:e|en|t)?(?: sie)?|vergiss|vergessen sie|missacht(?:e|en)|verwirf|umgeh(?:e|en)|uberspring(?:e|en)|(?:befolg|beacht|folg)(?:e|en)"
        r"(?= {WORDS}(?:nicht|keine))",
        r"die|den|der|diese|sie|ihre|von|was",
        r"vorherigen?|vorigen?|bisherigen?|obigen?|fruheren?|vorangegangenen|deinen?r?|ihre|alle|system",
        r"anweisung(?:en)?|regeln?|vorgaben|instruktionen|befehle|richtlinien|einschrankungen|prompt",
    ),
    (
        "pt",
        r"ignor[ae]m?|esquec[ae]m?|desconsider[ae]m?|desrespeite|descarte|nao (?:siga|sigas|obedeca|cumpra)|(?:pare|deixe) de (?:seguir|obedecer)",
        r"as?|os|de|das?|do|que|estas|essas",
        r"anteriores|previas|precedentes|acima|sistema|suas|tuas|todas|todos",
        r"instruc(?:ao|oes)|regras|ordens|diretrizes|normas|restricoes|prompt",
    ),
    (
        "it",
        r"ignora(?:te)?|dimentica(?:te)?|trascura(?:te)?|non (?:seguire|rispettare|tenere conto)|disobbedisci|scarta|aggira|smetti di seguire",
        r"le|gli|i|la|di|delle|del|queste",
        r"precedenti|sopra|sistema|tue|tutte|tutti|tuoi",
        r"istruzioni|regole|direttive|ordini|indicazioni|restrizioni|prompt",
    ),
)
_DROP = r"\b(?:VERB) (?:(?:FILL) ){0,5}?(?:(?:OWN) (?:(?:FILL|OWN) ){0,4}(?:RULE)|(?:RULE) (?:(?:FILL) ){0,4}(?:OWN))"

# Lists that phrases name.
_LISTS = {
    "WORDS": r"(?:[^\W_]{1,20}[\W_]{1,3}){0,4}?",
    # who must not know
    "USER": r"(?:the|this|our) (?:human )?(?:user|customer|human)\b",
    # what no assistant may do without, in the six languages
    "BOUNDS": r"(?:restri[ck]\w+|filt\w+|limit\w*|rules|guidelines|censor\w*|censur\w*|zensur|content polic\w+|ethic\w*|moral\w*|refusals?|reglas|regras"
    r"|regole|regeln|einschrankung\w*|grenzen)",
    "WITHOUT": r"(?:no|not have any|without|free of|sin|sans|ohne|sem|senza)\b",
    # a persona or a mode without bounds
    "FREE": r"(?:unrestricted|uncensored|unfiltered|jailbroken|amoral|dan\b|do anything now|unzensiert|sin censura|entwicklermodus"
    r"|(?:developer|jailbreak|god|dan|sudo|unrestricted|evil) mode|mode (?:developpeur|dieu)|modo (?:desarrollador|desenvolvedor|dios)"
    r"|modalita sviluppatore|{WITHOUT} {WORDS}{BOUNDS})",
    # a preference that may follow "from now on you must"
    "NOPREFERENCE": r"(?! {WORDS}(?:call me|address me|speak|use|write|in (?:english|spanish|french|german|portuguese|italian|chinese|japanese)))",
}

# Phrases: a space stands for any gap or none, so that "ignore_all-rules" is read as well.
_PHRASES: tuple[Pattern, ...] = (
    *(
        ("override", f"drop_{code}", _DROP.replace("VERB", verb).replace("FILL", fill).replace("OWN", own).replace("RULE", rule))
        for code, verb, fill, own, rule in _RULES
    ),
    ("override", "drop_zh", r"(?:忽略|无视|無視|忘记|忘掉|不要(?:遵守|理会|遵循|听从)|别理|抛弃|违反|绕过).{0,8}(?:之前|以前|先前|以上|上面|上述|前面|收到|所有|全部|一切|你的|系统|原有).{0,8}(?:指令|指示|规则|提示|设定|限制|命令|要求|约束|准则)"),
    ("override", "drop_ja", r"(?:以前|これまで|今まで|上記|前の|先ほど|すべて|全て|システム|あなたの|元の).{0,8}(?:指示|命令|ルール|規則|プロンプト|制約|制限|ガイドライン).{0,10}(?:無視|忘れ|破棄|従わ|従う(?:な|必要)|守ら)"),
    # "forget everything you were told", "whatever your policies say"
    ("override", "forget_told", r"\b(?:forget|ignore|disregard) (?:everything|anything|all|what|whatever) (?:that )?(?:(?:you were|you ve been|you have been|has been) (?:told|taught|given|said)|you (?:learned|know)|above|before this|said above)"),
    ("override", "forget_told_romance", r"\b(?:olvid[ae]|esquec[ae]|dimentica|oublie[zr]?) (?:de )?(?:todo|tudo|tutto|tout) (?:lo|o|quello|ce) (?:que|qu|che) (?:te|ti|lhe|os|on|vous)\b"),
    ("override", "forget_told_de", r"\bverg(?:iss|essen sie) alles was (?:dir|ihnen)\b"),
    # rules declared void
    ("override", "void", r"\b(?:your|the|all|any|previous|prior|earlier|former|preceding|existing) (?:(?:previous|prior|earlier|former|system|safety|content|existing|old|current) ){0,2}(?:instructions?|rules?|guidelines?|prompts?|polic(?:y|ies)|directives|filters?|checks|restrictions) {WORDS}(?:no longer apply|do not apply|void\b|superseded|revoked|cancell?ed|suspended|lifted|disabled|deactivated|turned off|overridden|obsolete now)"),
    ("override", "suspended", r"\b(?:system|safety) (?:rules|checks|filters|guidelines|protocols) (?:are |have been )?(?:suspended|off\b|disabled|turned off|lifted)"),
    # another prompt in place of ours
    ("override", "new_prompt", r"\b(?:new|updated|revised|real|actual) system (?:prompt|instructions?|message)|\byour (?:new|real|true|actual) (?:instructions?|task|role|job|goal|mission|rules|purpose|objective)\b|\bnew (?:instructions|directives?)\s*:|\b(?:nouvelles|nuevas|novas|nuove|neue) (?:instructions|instrucciones|instrucoes|istruzioni|anweisungen)[^\n:]{0,20}:|(?:新的?系统提示|新的?指令|新(?:しい|たな)(?:システム)?(?:プロンプト|指示|ルール))"),
    ("override", "was_a_test", r"\b(?:preceding|previous|above|earlier) (?:prompt|text|instructions?|conversation) (?:was|were) (?:just |only )?(?:a )?(?:test|example|drill)"),
    # another self
    ("override", "you_are_now", r"\byou (?:are|re) (?:now|henceforth|no longer) (?:an? |in |my |the (?:{WORDS})(?:assistant|agent|model|ai|bot)|\w{1,20} ?(?:gpt|bot|ai)\b|dan\b|free\b|bound|{FREE})"),
    ("override", "free_persona", r"\b(?:act|behave|role ?play|pretend|answer|respond|speak|simulate|you are|you re|you have|switch to|enter|enable|activate) .{0,40}?{FREE}"),
    ("override", "bot_persona", r"\b(?:answer|respond|reply|act|speak) (?:only )?as \w{0,20}(?:gpt|bot)\b"),
    ("override", "free_persona_other", r"\b(?:ahora eres|eres ahora|tu es|vous etes|du bist|agora voce e|voce agora e|ora sei|adesso sei)\b .{0,40}?{FREE}"),
    ("override", "free_persona_zh", r"你现在(?:是|进入|处于).{0,15}(?:限制|开发者模式|过滤|审查|约束|dan)"),
    ("override", "free_persona_ja", r"(?:今からあなたは|あなたは今から|あなたは今).{0,20}(?:制限|検閲|フィルタ|モード|dan)"),
    # from now on, obey
    ("override", "from_now_on", r"\b(?:from (?:now|this moment|this point|here) on(?:wards?)?|starting now|henceforth|as of now) (?:you|the assistant|the ai|the agent|all agents) (?:must|will|shall|are|have to|need to|obey|only|never){NOPREFERENCE}"),
    ("override", "from_now_on_es", r"\b(?:a partir de ahora|desde ahora|de ahora en adelante) (?:tu )?(?:debes|deberas|tienes que|eres)(?! {WORDS}(?:en espanol|en ingles|llamarme|usar))"),
    ("override", "from_now_on_fr", r"\b(?:a partir de maintenant|desormais|dorenavant|des maintenant) (?:tu|vous) (?:dois|devez|es|etes|obeiras)(?! {WORDS}(?:en francais|en anglais|m appeler|utiliser))"),
    ("override", "from_now_on_de", r"\b(?:ab jetzt|ab sofort|von nun an|von jetzt an) (?:musst|wirst|bist|sollst) du(?! {WORDS}(?:auf deutsch|auf englisch|mich))"),
    ("override", "from_now_on_pt", r"\b(?:a partir de agora|de agora em diante|daqui em diante) (?:voce|tu) (?:deve|devera|e|tem que|precisa)\b(?! {WORDS}(?:em portugues|em ingles|me chamar|usar))"),
    ("override", "from_now_on_it", r"\b(?:d ora in poi|da ora in poi|da (?:adesso|questo momento)(?: in poi)?|a partire da ora) (?:tu )?(?:devi|dovrai|sei)\b(?! {WORDS}(?:in italiano|in inglese|chiamarmi|usare))"),
    ("override", "from_now_on_zh", r"(?:从现在(?:开始|起)|从今(?:以后|往后|起)|今后),?你(?:必须|只能|将|要).{0,12}(?:服从|听从|接受|遵守|执行|任何|一切)"),
    ("override", "from_now_on_ja", r"(?:今から|これから|今後)は?、?(?:あなたは|必ず).{0,20}(?:従|しなければ|制限)"),
    ("override", "obey", r"\b(?:you|assistant|ai|agent|model) (?:must|shall|will|should|have to) (?:always )?(?:comply|obey|submit)\b"),
    # bounds taken off
    ("override", "bounds_off", r"\b(?:disable|turn off|switch off|bypass|remove|lift|deactivate|override|circumvent|drop) (?:(?:all|any|your|the|its|of) ){0,3}(?:safety|content|ethical|moral|moderation|security) (?:filters?|guidelines?|polic\w+|checks?|measures|restrictions|protocols?|guardrails)"),
    # in the name of an authority
    ("override", "authority", r"\b(?:openai|anthropic|google|(?:the|your) developers?|your creators?|(?:the|your) administrators?) (?:has |have )?(?:authori[sz]ed|instructed|ordered|permitted|allowed) you\b|\b(?:authori[sz]e|order|command|instruct) you to (?:bypass|ignore|override|disregard)|\b(?:message|notice|order) from (?:the |your )?(?:developers?|administrators?|openai|anthropic)|\b(?:system|admin\w*) (?:override|notice)\b"),
    # a page that talks to machines
    ("override", "to_machines", r"\b(?:attention|note to|notice to|hey|dear) (?:all )?(?:the )?(?:ai|llms?|language|assistant|chatbot)\b|\b(?:ai|llm) (?:agents?|models?|assistants?) (?:that |who )?(?:read|reading|process|processing|parsing) this|\bassistant when you (?:read|see) this"),
    # hidden from the user
    ("override", "behind_back", r"\b(?:do not|don t|never|without|avoid) (?:tell|inform|notif[yi]|alert|mention|reveal|disclose|let|show|warn|ask)(?:ing)? {WORDS}{USER}|\b(?:hide|keep|conceal) {WORDS}(?:from )?{USER}|\b{USER} (?:must|should|may|can) (?:not|never) (?:know|notice|find out|learn|be (?:told|informed))"),
    ("override", "behind_back_es", r"\b(?:no (?:se )?(?:lo |le |les )?(?:digas|cuentes|informes|avises|menciones|reveles)|ocult\w+|sin (?:avisar|informar|decir\w*)|escond\w+) {WORDS}al? usuario"),
    ("override", "behind_back_fr", r"\b(?:ne (?:le |lui )?(?:dis|dites|parle|revele|mentionne)|n (?:en |y )?(?:parle|informe|avertis)|cache[rz]?|sans (?:prevenir|informer|avertir)|insu de) {WORDS}l utilisateur"),
    ("override", "behind_back_de", r"\b(?:sage?|erzahle?|verrate?) (?:es )?de[mn] (?:be)?nutzer\w* (?:\w{1,12} )?(?:nicht|davon)|\b(?:be)?nutzer (?:darf|soll) {WORDS}(?:nicht|nichts) {WORDS}(?:erfahren|wissen|merken)|\bohne (?:es )?de[mn] (?:be)?nutzer (?:zu )?(?:sagen|informieren|mitzuteilen)|\b(?:verheimliche|verschweige) {WORDS}de[mn] (?:be)?nutzer"),
    ("override", "behind_back_pt", r"\b(?:nao (?:conte|diga|avise|informe|mencione|revele|fale)|escond[ae]|oculte|sem (?:avisar|informar|contar)) {WORDS}(?:o|ao|do) (?:usuario|utilizador)"),
    ("override", "behind_back_it", r"\b(?:non (?:dir\w+|rivelare|menzionare|informare|avvisare)|nascond\w+|senza (?:dir\w+|avvisare|informare)|insaputa) {WORDS}(?:all|dall|dell|l) utente"),
    ("override", "behind_back_zh", r"(?:不要|别|不得|不能|请勿)(?:告诉|让|通知|告知|提醒|向).{0,3}用户|对用户(?:隐瞒|保密)|瞒着用户"),
    ("override", "behind_back_ja", r"ユーザーに(?:は|も)?.{0,8}(?:言わ|知らせ|伝え|教え|話さ)(?:ず|な)|ユーザーに(?:は)?(?:内緒|秘密)"),
    # our own prompt told
    ("override", "reveal", r"\b(?:reveal|show|print|repeat|output|display|tell me|give me|leak|dump|recite) (?:me )?(?:(?:your|the|all|full|entire|complete|exact) ){1,3}(?:(?:system|initial|original|hidden|secret) ){0,2}(?:prompt|instructions)|\brepeat (?:everything|the (?:text|words)) above"),
    # orders that stand elsewhere
    ("override", "decode_and_follow", r"\b(?:decode|decrypt|base64|rot13)\b.{0,80}?\b(?:follow|execute|obey|run|carry out|do what)\b"),
    ("override", "visit_and_follow", r"\b(?:visit|open|fetch|load|read|go to|download) https?://\S{1,200}.{0,40}?\b(?:follow|execute|obey|do (?:exactly )?what|carry out|run|steps)\b"),
    # data sent away
    ("exfiltration", "send", r"{SEND}(?=.{0,100}?{DATA})(?=.{0,140}?{TARGET})"),
    ("exfiltration", "send_cjk", r"{DATA}(?=.{0,80}?{TARGET}).{0,80}?(?:送信|送って|転送|アップロード|发送|发到|上传)"),
)
