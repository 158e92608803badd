"""Secrets leave a text, everything else stays byte for byte. Every secret here is made at run time and is nobody's."""

import asyncio
import json
import logging
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from growth import LINEAR, growth
from insula import Metacognition, redaction
from insula.cli import common
from insula.redaction import kinds, redact, shapes, take_answer, take_echoes
from insula_bench.other_hands import is_held_out
from insula_bench.secret_lines import Case, cases, is_left
from insula_bench.secrets_fit import library_files

HEX = "9f86d081884c7d65"
B62 = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY"
B64 = "aB3dE5fG7hJ9/kL1mN2pQ4r+S6tU8vW0xYz12345"
JWT = "ey" + "JhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0In0." + B62
LINES = "\n".join((B62 * 2) for _ in range(3))
BEGIN, END = "-----BEGIN RSA PRIV" + "ATE KEY-----", "-----END RSA PRIV" + "ATE KEY-----"
CARD = "4539 1488 " + "0343 6467"

TOKENS = {
    "openai": ["sk-" + B62 + B62[:16], "sk-" + "proj-" + B62 + "_" + B62, "sk-" + HEX * 2],
    "anthropic": ["sk-" + "ant-api03-" + B62 + "-" + B62],
    "google": ["AIza" + B62 + "abc", "ya29" + "." + B62, "GOCSPX" + "-" + B62[:28]],
    "aws": ["AKIA" + "IOSFODNN7ABCDEFG", "ASIA" + "IOSFODNN7ABCDEFG"],
    "github": ["ghp_" + "a1B2" * 9, "ghs_" + "a1B2" * 9, "gho_" + B62 + "abcd", "github_pat_" + B62[:22] + "_" + B62],
    "gitlab": ["glpat-" + B62[:20], "glrt-" + B62[:20]],
    "slack": ["xoxb-" + "123456789012-" + B62[:24], "xapp-" + "1-A111-222-" + HEX, "xoxe" + ".xoxp-1-" + B62],
    "stripe": ["sk_" + "live_" + B62[:24], "rk_" + "test_" + B62[:24], "whsec_" + B62],
    "twilio": ["SK" + HEX * 2, "AC" + HEX * 2],
    "sendgrid": ["SG" + "." + B62[:22] + "." + B62 + B62[:11]],
    "npm": ["npm_" + B62 + "abcd"],
    "pypi": ["pypi-" + "AgEIcHlwaS5vcmc" + B62 * 2],
    "huggingface": ["hf_" + B62 + "ab"],
    "azure": ["abc8Q" + "~" + B62 + "ab"],
    "digitalocean": ["dop" + "_v1_" + HEX * 4],
    "telegram": ["123456789:" + "AA" + B62 + "a"],
    "discord": ["MTk4NjIyNDgzNDcxOTI1MjQ4" + ".Cl2FMQ." + B62[:27]],
    "jwt": [JWT],
    "token": ["gsk_" + B62, "r8_" + B62, "hvs." + B62],
    "databricks": ["dapi" + HEX * 2],
    "shopify": ["shpat_" + HEX * 2],
    "card": [CARD, CARD.replace(" ", ""), CARD.replace(" ", "-"), "3782 822463" + " 10005"],
}
PEM = f"{BEGIN}\n{LINES}\n{END}"

JUDGED = ("password", "token", "code")
"""What the head calls a secret that no rule names."""
# what stands before the secret, the secret, what stands after it, the kind
PLACES = [
    ("https://ana:", "s3cr3t!", "@db.example/x", "url"),
    ("postgres://app:", "p@ss", "@localhost:5432/app", "url"),
    ("redis://:", "hunter2", "@cache:6379", "url"),
    ("git clone https://", HEX * 2, "@git.example/x.git", "url"),
    ("https://hooks.slack.com/services/", "T0000/B0000/" + B62[:24], "", "webhook"),
    ("Authorization: Bearer ", B62, "", "authorization"),
    ("curl -H 'Authorization: Basic ", "YW5hOkt3ODNtZFBx", "' https://x.example", "authorization"),
    ("the header was bearer ", B62, " as before", "authorization"),
    ("Cookie: ", "sid=abc123def456; theme=dark", "", "cookie"),
    ('{"Set-Cookie": "', "id=a3fWa9xx; Max-Age=2592000", '"}', "cookie"),
    ("DB_PASSWORD=", "swordfish", "\nNEXT=1", "password"),
    ("export API_TOKEN=", "q1w2e3r4t5", "", "token"),
    ('{"password": "', "hunter2", '"}', "password"),
    ('{\\"password\\": \\"', "hunter2", '\\"}', "password"),
    ("password: ", "hunter2", "\nuser: ana", "password"),
    ("pw: ", "hunter2", "", "password"),
    ('password = "', "c0rrecthorse", '"', "password"),
    ("password: str = '", "hunter2", "'", "password"),
    ("Server=db;User Id=sa;Password=", "Tr0ub4dor", ";Encrypt=yes", "password"),
    ("mysql --password=", "swordfish", " -u root", "password"),
    ("tool --api-key ", B62, " run", "api_key"),
    ("aws_secret_access_key = ", B64, "", "api_key"),
    ("AKIA" + "IOSFODNN7ABCDEFG,", B64, "", "aws"),
    ("AccountName=x;AccountKey=", "abcd1234" * 10 + "==", ";", "azure"),
    ("https://x.blob.example/c?sv=2020&sig=", "abcd1234%2B" * 5, "&se=1", "azure"),
    ("client_secret: '", HEX * 2, "'", "secret"),
    ("<password>", "hunter2", "</password>", "password"),
    ("?user=root&password=", "hunter2", "&ssl=1", "password"),
    ("//registry.example/:_authToken=", B62, "", "token"),
    ('"auth": "', "dXNlcjE6aHVudGVyMg==", '"', "key"),
    ("curl -s -u ana:", "hunter2", " https://x.example", "password"),
    ("machine x.example login ana password ", "swordfish", "\n", "password"),
    ("sshpass -p ", "hunter2", " ssh x", "password"),
    ("my password is ", "hunter2!", "", "password"),
    ("My wifi password is ", "swordfish", ".", "password"),
    ("the password for the router is ", "hunter2", ", ok?", "password"),
    ("the api key is ", B62, "", "token"),
    ("mi contraseña es ", "perro99", ".", "password"),
    ("mon mot de passe est ", "chien99", "", "password"),
    ("mein Passwort lautet ", "hund99", "!"[:0], "password"),
    ("minha senha é ", "gato99", ".", "password"),
    ("la mia password è ", "gatto99", "", "password"),
    ("我的密码是", "mao12345", "。", "password"),
    ("パスワードは", "neko1234", "です", "password"),
    ("my card pin is ", "4821", ".", "code"),
    ('the passphrase of the backup is "', "four otters knit socks", '" and nobody else has it', "password"),
    ("db.example:5432:orders:app:", "kettle-Blue-6", "", "password"),
    ("CREATE USER 'etl'@'%' IDENTIFIED BY '", "nightshift!77", "';", "password"),
    ("ALTER ROLE etl WITH PASSWORD '", "nightshift!77", "';", "password"),
    ("pay with ", CARD, ", thanks", "card"),
]

HARMLESS = [
    'password = os.environ["X"]',
    "password = os.getenv('DB_PASSWORD')",
    "password: str",
    "def login(user: str, password: str | None = None, token: Optional[str] = None) -> Token: ...",
    "password = config.db.password",
    "self.token = token2",
    "const password: string = props.password;",
    "password=get_password(user1)",
    "password = hashed[0]",
    "DB_PASSWORD=${DB_PASSWORD}",
    "DB_PASSWORD=$1",
    "TOKEN=$(cat token.txt)",
    "password: {{ vault_password1 }}",
    "password: !vault secret1",
    "api_key: <your-api-key>",
    "api_key = 'YOUR_API_KEY_1'",
    "token: xxxxxxxx1",
    "password: ********",
    '{"password": "string", "token": null}',
    '"password": "Enter your password"',
    "MOT_DE_PASSE=votre_mot_de_passe",
    "db.example:5432 refuses",
    'the film is called "four otters knit socks", is it good?',
    "max_tokens=400",
    "max_tokens: 12345678",
    "tokenizer = 'cl100k_base_v2'",
    "eos_token: '<|im_end|>'",
    "key: user-profile-42",
    "key = 'linux-build-9f86d081884c7d659a2feaa0c55ad015'",
    "key: da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "id: 550e8400-e29b-41d4-a716-446655440000",
    "key: 550e8400-e29b-41d4-a716-446655440000",
    "commit da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "integrity: sha512-aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYz12345aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0x==",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4",
    "-----BEGIN CERTIFICATE-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END CERTIFICATE-----",
    "PWD=/home/ana/project1",
    "--- PASS: TestLogin2 (0.03s)",
    "PASS: test_login2",
    "the password is required",
    "The password is wrong, and the token is expired.",
    "my password is not working",
    "the token is base64 encoded and the password is sha256",
    "The secret to a good soup is patience.",
    "Password: must be at least 8 characters",
    "Use the --password option, or --token FILE.",
    "key = lambda x: x[1]",
    "monkey=12345678",
    "https://localhost:8080/path@2x.png",
    "git@github.com:ana/repo.git",
    "postgres://$USER:$PASSWORD@localhost/db",
    "Authorization: required",
    "Authorization: Bearer $TOKEN",
    "Bearer authentication was introduced in RFC6750",
    "cookie: a small cake",
    "order 4111111111111112 of 2024-01-15 10:30:00",
    "0.4111111111111111",
    "1700000000000",
    "task-force-3 asked about sk-learn and risk-averse disk-usage",
    "card 1234 5678 9012 3456",
    "El token caducó y la clave es sencilla.",
    "Das Passwort ist falsch.",
    "secretKeyRef:\n  name: db\n  key: password",
    "token_count=4096, token_type='Bearer'",
    "if password != confirm_password: raise ValueError('passwords differ')",
    "npm_config_registry=https://registry.example",
    "public_key = 'aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYz12345'",
]


@pytest.mark.parametrize(("kind", "token"), [(kind, token) for kind, found in TOKENS.items() for token in found])
@pytest.mark.parametrize("frame", ["{}", "see {}, please", '{{"x": "{}"}}', "a\n{}\nb", "x={}", "line\\n{}\\n"])
def test_a_token_is_replaced_wherever_it_stands(kind: str, token: str, frame: str) -> None:
    result = redact(frame.format(token))
    assert result == frame.format(f"[REDACTED:{kind}]")


@pytest.mark.parametrize(("before", "secret", "after", "kind"), PLACES)
def test_only_the_secret_of_a_place_is_replaced(before: str, secret: str, after: str, kind: str) -> None:
    result = redact(before + secret + after)
    assert secret not in result
    found = re.fullmatch(re.escape(redact(before)) + r"\[REDACTED:(\w+)\]" + re.escape(after), result)
    assert found
    assert found[1] in {kind, *JUDGED}


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_survives(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize("sign", ["\u200b", "\u00ad", "\u2060", "\ufeff", "\x1b[1m"])
def test_a_token_is_found_with_signs_in_it_that_nobody_sees(sign: str) -> None:
    token = "ghp_" + "a1B2" * 9
    assert redact(f"see {token[:12]}{sign}{token[12:]}, please") == "see [REDACTED:github], please"


@pytest.mark.parametrize("written", ["ghp\\_" + "a1B2" * 9, "_ghp_" + "a1B2" * 9 + "_"])
def test_a_token_is_found_as_markdown_writes_it(written: str) -> None:
    assert "a1B2" not in redact(f"see {written}, please")


@pytest.mark.parametrize("frame", ["{}", "{{'key': '{}'}}", "before\n{}\nafter words", "x = [{}]"])
def test_a_private_key_goes_whole(frame: str) -> None:
    assert redact(frame.format(PEM)) == frame.format("[REDACTED:private_key]")


def test_no_expression_makes_a_group_possessive() -> None:
    """CPython before 3.11.5 matches such groups wrongly (its issue 106052): a private key kept its last line there."""
    possessive = re.compile(r"(?<!\\)\)(?:[*+?]|\{[\d,]+\})\+")
    sources = sorted((Path(__file__).parent.parent / "src" / "insula").rglob("*.py"))
    assert not [path.name for path in sources if possessive.search(path.read_text("utf-8"))]


def test_a_private_key_goes_in_escaped_text_too() -> None:
    assert json.loads(redact(json.dumps({"k": PEM, "n": [1]}))) == {"k": "[REDACTED:private_key]", "n": [1]}


@pytest.mark.parametrize(
    "cut",
    [f"{BEGIN}\n{LINES}", f"{BEGIN}\n{LINES}\nabc", f"{BEGIN}\n{LINES[:150]}...", f"log: {LINES}\n{END}\ndone"],
)
def test_a_private_key_that_was_cut_still_goes(cut: str) -> None:
    assert not any(line in redact(cut) for line in LINES.split("\n"))


def test_a_certificate_and_a_public_key_stay() -> None:
    text = PEM.replace("RSA PRIVATE KEY", "CERTIFICATE") + PEM.replace("RSA PRIVATE", "PUBLIC")
    assert redact(text) == text


def test_a_number_that_fails_the_check_digit_is_no_card() -> None:
    assert redact(CARD[:-1] + "2") == CARD[:-1] + "2"


def test_the_more_precise_kind_names_the_secret() -> None:
    token = TOKENS["github"][0]
    assert redact(f"GITHUB_TOKEN={token} and password: '{token}'").count("[REDACTED:github]") == 2


def test_kinds_are_named_once_and_in_order() -> None:
    text = f"password: hunter2 {TOKENS['npm'][0]} pwd=hunter3 [REDACTED:aws]"
    assert kinds(text) == ("password", "npm", "aws")
    assert kinds("nothing here") == ()


FRAGMENTS = [
    *(token for found in TOKENS.values() for token in found),
    *(before + secret + after for before, secret, after, _ in PLACES),
    *HARMLESS,
    *(before for before, *_ in PLACES),
    *(after for _, _, after, _ in PLACES),
    *(
        "[REDACTED:x]",
        "[REDACTED:",
        "]",
        "[",
        "token",
        "key=",
        ": ",
        "=",
        "'",
        '"',
        '\\"',
        "\\",
        "\n",
        " ",
        "@",
        "://",
        "-",
    ),
    *("password", "Bearer ", "a1B2c3D4e5", "İ", "é", "\ud800", "是", ">", "(", ")", "4111", "is "),
]
texts = st.one_of(st.text(), st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join))


@given(texts)
@settings(max_examples=200, deadline=None)
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


leaves = texts | st.integers(-(10**12), 10**12) | st.floats(allow_nan=False, allow_infinity=False) | st.none()


@given(st.recursive(leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4)))
@example([{"PASSWORD=": []}, [], ""])
@settings(max_examples=100, deadline=None)
def test_json_stays_json(value: object) -> None:
    for ascii_only in (True, False):
        json.loads(redact(json.dumps(value, ensure_ascii=ascii_only)))


codes = st.lists(
    st.sampled_from(["recovery codes: ", "1a2b-3c4d", "8231 7706", "a1B2c3D4e5", ", ", "\n", "ä", '"', "\\"]),
    max_size=4,
).map("".join)


def shape_of(value: Any) -> object:
    """What JSON holds, but for its texts."""
    match value:
        case str():
            return str
        case list():
            return [shape_of(each) for each in cast("list[Any]", value)]
        case dict():
            return [shape_of(each) for each in cast("dict[str, Any]", value).values()]
        case _:
            return value


@given(st.recursive(codes, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(codes, inner, max_size=4)))
@settings(max_examples=100, deadline=None)
@example({"note": "recovery codes: 1a2b-3c4d", "8231-7706": 1})
@example({"recovery codes\u00e4a1B2c3D4e5": ["Bearer ", "recovery codes\u00e4,a1B2c3D4e5"]})
def test_codes_in_several_strings_of_json_go_one_by_one(value: object) -> None:
    for indent in (None, 1):
        kept = json.loads(
            redact(json.dumps(value, indent=indent)), object_pairs_hook=lambda pairs: [v for _, v in pairs]
        )
        assert shape_of(kept) == shape_of(value)


def test_a_list_of_codes_is_redacted_code_by_code() -> None:
    said = {"recovery codes": ["1a2b-3c4d", "8231-7706"], "then": "ok"}
    assert json.loads(redact(json.dumps(said))) == {"recovery codes": ["[REDACTED:code]"] * 2, "then": "ok"}


@given(
    st.text(
        alphabet=st.characters(categories=["L", "P", "Z", "S"], exclude_characters="@#$%^&*+=?~!<>:…•"), max_size=300
    )
)
@settings(max_examples=100, deadline=None)
def test_words_are_never_secrets(text: str) -> None:
    assert redact(text) == text


HOSTILE = [
    *("a", "-", "=", "\\", 'token="', "password: x ", "--token ", "password=a1b2c3d4 ", "the password is hunter2 "),
    *("my my my ", "eyJ", "sk-a", "xoxb-", "4111 1111 1111 111", "[REDACTED:x]a1 ", "://a:", "http://u:p@ss "),
    *("curl -u a:", "cookie: a=", "authorization: bearer ", BEGIN, f"{BEGIN}\nAAAA", "QUJD" * 16 + "\n"),
    *('\\\\\\"', "token: str = ", "密码是"),
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_long_hostile_text_costs_linear_time(unit: str) -> None:
    marks = " PRIVATE token password key :// cookie bearer curl AKIA ghp_ sk- eyJ SG. "

    def redact_anew(text: str) -> str:
        redaction.clear_cache()  # short texts in which there is nothing are remembered
        return redact(text)

    assert growth(redact_anew, lambda size: marks + unit * (size // len(unit)), 20_000) <= LINEAR


def test_the_hook_pays_for_no_import_and_no_pattern_it_does_not_need() -> None:
    code = (
        "import json, sys; before = set(sys.modules); sys.path.insert(0, sys.argv[1])\n"
        "import insula.redaction as r\n"
        "r.redact('ls -la src'); print(json.dumps([[*(set(sys.modules) - before)], r.compiled.cache_info().currsize]))"
    )
    command = [sys.executable, "-I", "-S", "-c", code, str(Path(redaction.__file__).parents[2])]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    imported, compiled = json.loads(found.stdout)
    assert ({*imported}, compiled) == (
        {
            "insula",
            "insula.redaction",
            *(f"insula.redaction.{part}" for part in ("head", "shapes", "values")),
        },
        0,
    )


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("What is the password for the router?", "Marsh-Mallow-7"),
        ("¿Cuál es la contraseña?", "Cielo.Azul"),
        ("Quel est le mot de passe ?", "Cerise-Noire"),
        ("Bitte geben Sie das Passwort ein.", "Waldmeister8"),
        ("Qual é a senha do wifi?", "bolo-de-milho"),
        ("Qual è la password del router?", "Panna.Cotta"),
    ],
)
def test_an_answer_to_who_asks_for_a_password_is_one(asked: str, answer: str) -> None:
    assert take_answer(answer, [(False, asked)]) == ("[REDACTED:password]", {answer: "password"})
    assert take_answer(answer, [(False, "What is the name of your cat?")])[0] == answer


def test_words_of_a_wallet_are_a_seed_without_a_name_and_others_are_not() -> None:
    words = "legal winner thank year wave sausage worth useful legal winner thank yellow"
    assert redact(f"I wrote: {words}.") == "I wrote: [REDACTED:seed]."
    shopping = "apple banana cherry grape lemon mango orange papaya peach pear plum kiwi"
    assert redact(shopping) == shopping


WALLET = "lionceau prison branche carabine décider offenser maussade démolir période romance enjeu verser"
PASSWORDS = ("xK9#vQ2!pL7z", "Blumenwiese22", "hunter2", "kV7$mm2x", "maria1987")
SAID_PLAINLY = (
    "My password is {}.",
    "Mein Passwort lautet {}.",
    "Mi contraseña es {}",
    "Mon mot de passe est {}",
    "Minha senha é {}",
    "La mia password è {}",
    "我的密码是{}",
    "私のパスワードは{}です",
)


@pytest.mark.parametrize("said", SAID_PLAINLY)
@pytest.mark.parametrize("password", PASSWORDS)
def test_a_password_that_is_called_one_is_taken_out_in_eight_languages(said: str, password: str) -> None:
    assert password not in redact(said.format(password))


SPOKEN_OF = (
    ("The cottage gate wants 4471 and then the star.", "4471"),
    ("key safe by the bins opens with 6 6 0 2", "6 6 0 2"),
    ("Das Schloss am Schuppen steht auf 3-8-1-5, bitte danach verdrehen", "3-8-1-5"),
    ("le casier de la salle s'ouvre avec 40 17 62", "40 17 62"),
    ("hanno cambiato il portone, adesso 4C118", "4C118"),
    ("玄関は7731を押してから入って", "7731"),
    ("大门按582036再按井号", "582036"),
    ("the office wifi is Heron_5G, join it with gooseberrypavement", "gooseberrypavement"),
    ("bei der Kasse einfach Kreide!Ente27 eingeben", "Kreide!Ente27"),
    ("mail habituel et Chaussette_Verte83, merci", "Chaussette_Verte83"),
    ('mysqli_connect("db1", "shop", "Tr3celsios!", "orders");', "Tr3celsios!"),
    ("| Room | Key box | Cleaning |\n|---|---|---|\n| 203 | 5 0 7 1 | 10:00 |", "5 0 7 1"),
    ("safe in the study: right to 28, left past 61, right to 15, then pull", "28, left past 61"),
)


@pytest.mark.parametrize(("text", "secret"), SPOKEN_OF)
def test_a_code_is_known_by_what_is_said_of_its_door(text: str, secret: str) -> None:
    assert secret not in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "The cottage gate is 120 cm wide and squeaks.",
        "key safe by the bins is empty again, ring Bea on 020 7946 0318",
        "Das Schloss am Schuppen kostet 45 Euro",
        "le casier de la salle porte le numéro 233",
        "hanno vinto 3-1, 2-2 e 4-0",
        "のぞみ217号、9号車の3番E席",
        "if the guard asks, tell him I am late",
        "product;barcode;price\nSoap;4006381333931;2.10",
        "traceId=b58a426622ff8f8863d29e6182bed2d5 path=/user/login ms=35",
        "gpg --recv-keys DD110705E5BA804722409C624285BC93B355CFFE",
        '{"number": "4242424242424242", "cvc": "123"}',
    ],
)
def test_what_else_is_said_of_a_door_or_of_a_number_stays(text: str) -> None:
    assert redact(text) == text


def test_a_text_with_control_characters_is_read_as_any_other() -> None:
    assert "hunter2!x" not in redact("my \x00 password \x00is\x1d hunter2!x")


@pytest.mark.parametrize(
    "text", ["My locker is 217.", "es-p12", "I play chess.", "My favourite colour is RAL 6019.", "my plate is QWX4E21"]
)
def test_what_only_has_a_number_or_is_short_stays_as_it_is(text: str) -> None:
    assert redact(text) == text
    assert " " not in text or take_answer(text, [(False, "I am a model, and this is my only answer.")]) == (text, {})


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Login for the portal\nemail: kim@example.org\npassword\nFoxglove#31b", "Foxglove#31b"),
        ("Benutzer\nkim\nPasswort\nRegen+Bogen7\nServer\nwww", "Regen+Bogen7"),
        ("accès wifi, mot de passe\nTilleul-vert9", "Tilleul-vert9"),
        ("NETGEAR12\nNetwork Key (WPA2)\nquietriver204", "quietriver204"),
        ("Wifi: FritzBox-Attic / key 5120 9082 6630 1174 5528", "5120 9082 6630 1174 5528"),
        ("sign in with kim@example.com / brioche!7", "brioche!7"),
        ("gpg --batch --passphrase 'an elm leans on the mill' -d notes.gpg", "an elm leans on the mill"),
        ("the totp seed is below the picture: JVO2 W5WZ 4RYR KSHB CQDJ", "JVO2 W5WZ 4RYR KSHB CQDJ"),
        ("//nas/media /mnt cifs username=kodi,password=popcornPanda,uid=1000 0 0", "popcornPanda"),
        ("//nas/m /mnt cifs user=kodi,vers=3.0,pass=plainword,ro 0 0", "plainword"),
        ("frase segreta: tre gatti sul tetto rosso", "tre gatti sul tetto rosso"),
        ("phrase secrète du coffre : « le facteur danse sous la pluie »", "le facteur danse sous la pluie"),
        ("管理者 / Kabocha_7x でログインできません", "Kabocha_7x"),
        ("editor license\nNorthwind Ltd\nRGPTRDGZ KDYQCSQ6 RQ5Q4F2S XSSF4M3T", "RGPTRDGZ KDYQCSQ6 RQ5Q4F2S XSSF4M3T"),
        ("X-Api-Key: " + HEX * 2 + "a7", HEX * 2 + "a7"),
        (f"the line is db.example:5432:*:reports:{B62[:16]} and psql still asks", B62[:16]),
        ("Kennwort:\n\nNebel.Horn-52\n\nDamit geht es nicht.", "Nebel.Horn-52"),
        ("the setup key is JVO2W5WZ4RYRKSHBCQDJJVO2W5WZ4RYR, how do I add it?", "JVO2W5WZ4RYRKSHBCQDJJVO2W5WZ4RYR"),
        ("mi frase semilla es arena beso cable duna eje faro gota hielo isla jarra koala lazo", "jarra koala lazo"),
        ("WIFI:T:WPA;S:Attic;P:lemonTree_3;;", "lemonTree_3"),
        ("il PIN della carta di mia zia è 7093", "7093"),
        ("charge it, exp 09/28, cvv 415", "415"),
        ("it's Autumn!Moon2031 now", "Autumn!Moon2031"),
        ('the app password is "kdqe plmv zxhw btrs"', "kdqe plmv zxhw btrs"),
        (f"https://id.example.org/reset?uid=4&token={B62}", B62),
        ("AKIA" + f"IOSFODNN7ABCDEFG\t2026-07-02T09:12:44+00:00\t{B64}", B64),
        (f"key1  FULL  {(B62 * 3)[:86]}==", (B62 * 3)[:86]),
        (f"$ wg genkey\n{(B62 * 2)[:43]}=", (B62 * 2)[:43]),
        (f"curl -b 'JSESSIONID={B62}' https://x.example", B62),
        (r"schtasks /create /tn N /ru CORP\svc /rp plumTart9", "plumTart9"),
        ('"result": "lDmlZnPk^vhA7w",\n"type": "random_password"', "lDmlZnPk^vhA7w"),
        (f"https://{HEX * 2}:{HEX[::-1] * 2}@sentry.example.org/7", HEX * 2),
        ("7z a -pq~Mx7Nyg8W6W.k6 -mhe=on b.7z ./data", "q~Mx7Nyg8W6W.k6"),
        ("RESTIC_PASSWORD='ribbon timber jasper harbor' restic snapshots", "ribbon timber jasper harbor"),
        ("await page.getByLabel('Password').fill('papayaLassi');", "papayaLassi"),
        ("""expect "assword:"; send "brookOtter.7\\r"; interact""", "brookOtter.7"),
        ("new LDClient('sdk-" + "15e62d85-3d4a-413a-a83d-b92ddec20b57')", "15e62d85-3d4a-413a-a83d-b92ddec20b57"),
        (f"Phrase de secours :\n{WALLET}", WALLET),
        (f"mein Satz: {WALLET}", WALLET),
        ("Google gave me the app password uedp kwya iqip egyf – do I type the blanks?", "uedp kwya iqip egyf"),
        ("the setup key grfx yoli ujxp natb zkpp sjtg qnbh twzj, where do I type it", "grfx yoli ujxp natb"),
        ('{"exp_month":11,"exp_year":2031,"cvc":"906"}', "906"),
        ("amex 3782 822463 " + "10005 valid thru 04/29, 4-digit code 7031", "7031"),
        (f'{{"token_type":"Bearer","refresh_token":"{B62}_{B62}"}}' + " " * 400, B62),
        ("aws_session_token = IQoJb3JpZ2luX2Vj" + B62 * 9 + "==", B62),
        ("El PIN de la tarjeta de mi madre es 2087", "2087"),
        ("The vault opens with 41 left, 17 right, 8 left, write it down", "41 left, 17 right, 8"),
        ("合言葉は「たまごやき」です", "たまごやき"),
        ("postgresql://shop:shopkeeper@db.example:5432/shop", "shopkeeper"),
        ('System.setProperty("javax.net.ssl.trustStorePassword", "txyjkvvpc43");', "txyjkvvpc43"),
        ("smtp.login('ana@example.org', 'wqeo yjyy qdto bndi')", "wqeo yjyy qdto bndi"),
        ('{"event":"login","pwd":"harpsichord_5","ok":false}', "harpsichord_5"),
        ("A temporary password is generated for root@localhost: O@zA4Ace#cmE", "O@zA4Ace#cmE"),
        ("kubeadm join 10.0.0.1:6443 --token " + "bao8xd.6cqop5wzurawzj4g", "6cqop5wzurawzj4g"),
        (f"Unseal Key 1: {(B62 * 2)[:43]}=", (B62 * 2)[:43]),
        ("my login is maria.lund@example.com / W*%l2a@gE4", "W*%l2a@gE4"),
        ('I set the passphrase "two herons count the tide" on the laptop yesterday', "two herons count the tide"),
    ],
)
def test_a_value_is_known_by_the_place_of_its_form(text: str, secret: str) -> None:
    assert secret not in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "I forgot my password\nCan you help?",
        "Reset password\nSign-in",
        "Enter the new password\nConfirm",
        "The page asks for a password\nhttps://example.com/login",
        "Network key\nUnknown",
        "Write to kim@example.com / Berlin-Mitte",
        "kim@example.com / +49 30 1234567",
        "kim@example.com / LinkedIn",
        "The wifi key is the one on page 12 34.",
        'gpg --batch --passphrase "$PASS" -d notes.gpg',
        "管理者 / 編集者 / 閲覧者の三つの権限があります",
        "MIT license\nCopyright 2026 Northwind\nPermission is hereby granted",
        "mount -o user=kodi,vers=3.0,ro //nas/media /mnt",
        "La frase segreta del successo non esiste.",
        "The totp settings are below: open the app and scan it.",
        "the docs use AKIA" + "IOSFODNN7EXAMPLE, do I replace it?",
        f"100644 blob {HEX}{HEX}aabbccdd\tsrc/auth/token.ts",
        "password: z.string().min(12, 'Password too short')",
        f"peer: {(B62 * 2)[:43]}=\n  preshared key: (hidden)",
        f'{{"kty":"EC","crv":"P-256","x":"{B62}abc","y":"{B62}def","kid":"2026-07"}}',
        "00000010: 0300 3e00 0100 0000 6010 0000 0000 0000  ..>.....`.......",
        "$ ls -l /run\n-r-------- 1 root root 20 Jul  3 09:00 pg_password\n-rw------- 1 lena lena 41 Jul  3 09:00 id_a",
        "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:",
        "$ dmidecode -s system-uuid\n4c4c4544-0042-3510-8051-b4c04f303433",
        "=IF(REGEXMATCH(Sheet1!B12, x), Sheet2!A3, 0)",
        "The phrase that they used is not common.",
        "Wow! That was Great!",
        "Great!Now2 of them are left.",
        "our app pass code test case data",
        "The app password that will only work once is shown below.",
        "My post code is 80331",
        "My locker is 4471",
        "The sets went 12, 10 and 15.",
        "猫の名前は「たまごやき」です",
        'the film "two herons count the tide" is on tonight, are you coming?',
        "Meine PLZ ist 80331.",
        "mon code postal est 35000",
        "01JD1974YP3BYDFJK9GKFEE2FG is a ULID, sortable, right?",
        "can't ping 2001:db8:85a3::8a2e:370:7334 from the vm",
        f'<script src="/app.js" integrity="sha384-{B64}+{B62}/{B62}" crossorigin="anonymous"></script>',
        f"golang.org/x/text v0.21.0 h1:{B62}/{B62[:11]}= checksum mismatch",
        f"magnet:?xt=urn:btih:{HEX}{HEX}aabbccdd&dn=debian-13.1.0-amd64.iso",
        f"{HEX * 4}  debian-13.1.0-amd64.iso\nis that the one on the site?",
        "is 4242 4242 4242 " + "4242 the number for tests?",
        "4111 1111 1111 " + "1111 and 5105 1051 0510 " + "5100 pay in no shop",
        "STRIPE_KEY=sk_" + "test_your_key_here",
        "GITHUB_TOKEN=ghp_" + "x" * 36,
        "GITHUB_TOKEN=ghp_" + "yourTokenHereyourTokenHere",
        "https://hooks.slack.com/services/T00000000/B00000000/" + "X" * 24,
        "ANTHROPIC_API_KEY=sk-" + "ant-api03-your-key-goes-here",
        "postgresql://postgres:postgres@localhost:5432/shop",
        "https://ci.example.com/job/hooks/12345678/9876543",
        f"sessione={HEX[:8]}-{HEX[8:12]}-4c39-9e2a-{HEX[:12]} token_usati=7312",
        "sent to 0x" + (HEX * 3)[:40],
        f"GET /api/orders/{HEX} 200",
        "The meeting id is 835 2201 944, it starts at ten.",
        f"trace_id={HEX * 2} span={HEX}",
        f"idempotency_key={HEX[:8]}-{HEX[8:12]}-4c39-9e2a-{HEX[:12]}",
        f"public key token = {HEX}",
        "ERR_CODE=8705",
        '{"password": "forgot-password", "type": "password"}',
        "pk_" + f"live_{B62[:24]} is the publishable one",
        f"notion.so/Team-Wiki-{HEX * 2} how to embed",
        "password: {{ .Values.db.password | b64enc | quote }}",
        "essen mit und schreib unsre neue adresse drunter die hab ich dir beim umzug gegeben",
    ],
)
def test_a_form_without_a_value_stays_as_it_is(text: str) -> None:
    assert redact(text) == text


# What is redacted, measured on rows in no fit: providers of the half of gitleaks that is held out, and real code


RECALL, UNNAMED = 0.965, 0.93
"""Shares that are found, by all rules and where no rule knows the provider."""
FALSE_PER_LINE = 1 / 10_000
SAME = 2
"""Seeds with which the templates are filled in: a shape holds for any value, not for one."""


def missed(found: list[Case]) -> list[str]:
    return [case.line for case in found if any(is_left(redact(case.text), secret) for secret in case.secrets)]


@pytest.mark.parametrize("seed", range(SAME))
def test_tokens_of_providers_are_found(seed: int) -> None:
    found = cases("gitleaks_held", seed)
    assert len(found) >= 700
    assert len(missed(found)) / len(found) <= 1 - RECALL, "\n".join(missed(found))


def test_tokens_of_providers_that_no_rule_knows_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the head makes of a provider that it never saw, without the rule of gitleaks for it."""
    monkeypatch.setattr(redaction, "_PROVIDER_MARKS", {})
    found = cases("gitleaks_held")
    assert len(missed(found)) / len(found) <= 1 - UNNAMED, "\n".join(missed(found))


def test_what_gitleaks_leaves_alone_is_mostly_left_alone() -> None:
    found = cases("none_gitleaks_held")
    touched = [case.line for case in found if redact(case.text) != case.text]
    assert len(found) >= 30
    assert len(touched) <= 8, "\n".join(touched)


def test_code_without_secrets_is_left_as_it_is() -> None:
    """Every other file of Python's own library that the head was not fitted on: full of names of passwords."""
    lines, false = 0, list[str]()
    for path in [path for path in library_files() if is_held_out(path.name)][::2]:
        text = path.read_text("utf-8", "replace")
        lines += text.count("\n")
        false += [line for line in redact(text).splitlines() if "[REDACTED:" in line]
    assert lines > 30_000
    assert len(false) <= lines * FALSE_PER_LINE, "\n".join(false)


TELLING = 6
"""Characters of a secret that stand in a file by no accident."""


def test_no_secret_of_a_message_reaches_the_disk(tmp_path: Path) -> None:
    """One user says them all; what is kept is searched byte by byte."""
    told = cases("gitleaks_held")[::5]
    kept = asyncio.run(_kept(told, tmp_path))
    left = [case.line for case in told if any(secret in kept for secret in case.secrets if len(secret) >= TELLING)]
    assert len(left) / len(told) <= 1 - RECALL, "\n".join(left)


async def _kept(told: list[Case], folder: Path) -> str:
    async with await Metacognition.open(folder / "insula.db", embed=None) as metacognition:
        for number, case in enumerate(told):
            async with metacognition.turn("ana", f"s{number // 20}", case.text) as turn:
                turn.finish("Noted.")
    return "\n".join(path.read_bytes().decode("utf-8", "replace") for path in sorted(folder.glob("insula.db*")))


ECHOED = [
    ("My phone's code is 4921 in case you need to call", "Okay, 4921 it is.", "4921"),
    ("If somebody calls for the kid, the word is marmalade.", "Got it: Marmalade.", "armalade"),
    ("my passphrase is violet bicycle morning", "Violet bicycle morning, nice.", "bicycle"),
    ("玄関の暗証番号は8254です", "8254ですね。", "8254"),
]


@pytest.mark.parametrize(("said", "reply", "secret"), ECHOED)
def test_no_reply_that_repeats_a_secret_of_its_message_reaches_the_disk(
    tmp_path: Path, said: str, reply: str, secret: str
) -> None:
    kept = asyncio.run(_answered(said, reply, tmp_path))
    assert secret not in kept
    assert "[REDACTED:" in kept


def test_a_number_that_holds_a_secret_of_the_message_stays_in_the_reply() -> None:
    reply = "It took 49211 ms, and the code 4921 is noted."
    assert take_echoes(reply, {"4921": "code"}) == "It took 49211 ms, and the code [REDACTED:code] is noted."


async def _answered(said: str, reply: str, folder: Path) -> str:
    async with await Metacognition.open(folder / "insula.db", embed=None) as metacognition:
        async with metacognition.turn("ana", "s", said) as turn:
            turn.finish(reply)
        await metacognition.add("ana", [{"role": "user", "content": said}, {"role": "assistant", "content": reply}])
    return "\n".join(path.read_bytes().decode("utf-8", "replace") for path in sorted(folder.glob("insula.db*")))


@pytest.mark.parametrize("apart", [False, True])
def test_no_answer_to_who_asks_for_a_secret_is_taken_in(tmp_path: Path, apart: bool) -> None:
    talk = [
        {"role": "assistant", "content": "What is the password for the router?"},
        {"role": "user", "content": "Marsh-Mallow-7"},
    ]
    assert "Mallow" not in asyncio.run(_added([[line] for line in talk] if apart else [talk], tmp_path))


async def _added(calls: list[list[dict[str, str]]], folder: Path) -> str:
    async with await Metacognition.open(folder / "insula.db", embed=None) as metacognition:
        for lines in calls:
            await metacognition.add("ana", lines)
    return "\n".join(path.read_bytes().decode("utf-8", "replace") for path in sorted(folder.glob("insula.db*")))


def test_each_rule_has_a_source_and_a_mark_that_stands_in_what_it_finds() -> None:
    rows = [line.split(None, 3) for line in shapes.TOKENS.strip().splitlines()]
    assert all(len(row) == 4 and set(row[2]) <= set("gdtvb") for row in rows)
    assert all(set(sources) <= set("gdtvb") and sources for _, _, sources, _, _ in shapes.PLACES)


def test_the_log_redacts_its_messages_and_errors_alike(home: Path) -> None:
    common.log_to(home / common.LOG_FILE)
    secret = "sk-" + "ant-api03-" + "a1B2" * 20
    try:
        raise ValueError(f"it\nbroke with {secret}")
    except ValueError:
        logging.getLogger("insula.server").exception("A request failed\nfor %s.", secret)
    (line,) = (home / common.LOG_FILE).read_text().splitlines()
    assert secret not in line
    assert line.count("REDACTED") == 2


@pytest.mark.parametrize("name", ["tmpw1cx2zoq", "tmpwgfpbb_1", "tmpwojcdr0y"])
def test_a_folder_of_a_random_name_and_a_large_number_are_no_secrets(name: str) -> None:
    for path in (f"/tmp/{name}/project/src/a.ts", f"cat /var/folders/{name}/transcript.jsonl"):
        assert redact(path) == path
    assert redact("6.70116490409812e+208") == "6.70116490409812e+208"
    assert "hunter2x9q" not in redact("mysql -u root --password=hunter2x9q < /tmp/tmpw1cx2zoq/dump.sql")
