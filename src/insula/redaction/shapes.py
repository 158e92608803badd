"""The registry of secret shapes: what a secret looks like that gitleaks has no rule for, and where secrets stand.

Data for `redaction`, which compiles a pattern when one of its marks first stands in a text: the hook of a coding agent
pays for every import, so these are plain strings. Sources, by letter: **g** gitleaks' rules (config/gitleaks.toml), **d**
detect-secrets' plugins, **t** trufflehog's detectors, **v** the vendor's own documents, **b** BIP 39 and RFC 6238. They
name the kinds and the prefixes; the patterns are our own, and wider than those of `providers.tsv` where a token of
another length is one, too. `tests/test_redaction.py` measures them.
"""

TOKENS = r"""
private_key  PRIVATE                              gd   -----BEGIN {PEM}[^-]*+(?:-(?!----)[^-]*+)*-----END {PEM}
private_key  PRIVATE                              gd   -----BEGIN {PEM}(?:{GAP}[\w+/=]{20,}+)*(?:{GAP}[\w+/=]++(?={CUT}))?
anthropic    sk-ant-                              gv   ^[\w-]{16,}
openai       sk-                                  gv   ^(?=[\w-]*\d)(?:\w{24,}|(?=[\w-]*[A-Z])[\w-]{20,}|or-v1-\w{20,})
google       AIza,ya29.,GOCSPX-,1//0              gv   ^[\w-]{24,}
aws          AKIA,ASIA,ABIA,ACCA                  gd   ^(?!\w{9}EXAMPLE)[A-Z0-9]{16}(?![A-Za-z0-9])
aws          AKIA,ASIA                            gd   ^[A-Z0-9]{16}["'\s,:;|]{1,6}(?:\d{4}-[\dT:+.-]{6,28}[\s,;|]{1,6})?(?P<s>(?!\S{30}EXAMPLEKEY)[A-Za-z0-9/+]{40})(?![\w/+=])
github       ghp_,gho_,ghu_,ghs_,ghr_,github_pat_ gd   ^\w{22,}(?:\.[\w-]{20,}){0,2}
gitlab       glpat-,gldt-,glrt-,glcbt-,glptt-     gd   ^(?=[\w.-]*\d)[\w.-]{18,}\w
gitlab       glft-,glimt-,glsoat-,gloas-          gd   ^(?=[\w.-]*\d)[\w.-]{18,}\w
slack        xoxa-,xoxb-,xoxe-,xoxe.,xoxp-        gd   ^(?=[\w.-]*\d)[\w.-]{24,}\w
twilio       SK,AC                                gd   ^[0-9a-f]{32}(?!\w)
azure        Q~                                   gd   [\w~.-]{3}\dQ~[\w~.-]{31,}
stripe       sk_live_,sk_test_,rk_live_,rk_test_  gd   ^\w{10,}
stripe       whsec_                               gd   ^[\w+/=]{20,}
huggingface  hf_,api_org_                         gv   ^(?=[A-Za-z]*\d)[A-Za-z0-9]{30,}
telegram     :AA                                  gd   (?:(?<!\w)|(?<=\\[nrt]))\d{8,10}:AA[\w-]{33,}
discord      MD,MT,Mj,Mz,ND,NT,Nj,Nz,OD,OT        gd   ^[\w-]{21,26}\.[\w-]{6}\.[\w-]{27,}
jwt          eyJ                                  gd   ^[\w-]{10,}\.[\w-]{10,}(?:\.[\w-]*)?
token        gsk_,xai-,pplx-,r8_,ntn_,lin_api_    gtv  ^[\w-]{20,}
token        sbp_,figd_,nfp_,hvs.,glsa_,ATATT3    gtv  ^[\w=-]{20,}
openai       sk-lf-,pk-lf-                        v    ^[0-9a-f-]{36}
telegram     /bot                                 v    /bot(?P<s>\d{8,10}:[\w-]{30,})
token        tvly-,tskey-,tgp_v1_,jina_,nvapi-    tv   ^[\w-]{20,}
token        dckr_pat_,dckr_oat_,wandb_v1_,pcsk_  gtv  ^[\w-]{20,}
token        lsv2_pt_,lsv2_sk_,sb_secret_,dtn_    tv   ^[\w-]{20,}
token        CCIPAT_,CCIPRJ_,bkua_,bkct_,bkpat_   tv   ^\w{30,}
token        vercel_blob_rw_,CFPAT-,CLOJARS_      gtv  ^[\w-]{20,}
token        u+                                   v    ^(?=[\w-]*\d)[\w-]{18}(?![\w-])
token        sk_                                  v    ^[0-9a-f]{40,}(?!\w)
token        s-s4t2ud-,s-s4t2af-,FLWSECK-         gv   ^[0-9a-f]{12,}(?:-X)?
token        xkeysib-,xsmtpsib-                   gv   ^[0-9a-f]{64}-[A-Za-z0-9]{16}
token        pat-na1-,pat-eu1-,access-production- gv   ^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}
token        rpa_,csk-,fw_,rnd_,napi_,phx_,phc_   tv   ^{DENSE}{20,}(?!\w)
token        cio,oy2,EZAK,EZTK,AKC,cmVmd,4b1d     gv   ^{DENSE}{32,}(?!\w)
token        LTAI,ATBB,pnu_,ico-,secret_,ATTA     gtv  ^{DENSE}{20,}(?!\w)
token        re_                                  v    ^{DENSE}{8}_[A-Za-z0-9]{20,}(?!\w)
token        dp.pt.,dp.st.,dp.ct.,dp.sa.,dp.scim. gv   ^(?:[\w-]{1,35}\.)?[A-Za-z0-9]{40,}
token        st.                                  v    ^[0-9a-f]{24}\.[0-9a-f]{24,}\.\w{24,}
token        ops_eyJ,xprv,yprv,zprv,tprv          gtv  ^[\w+/]{80,}={0,3}
token        dG9rO                                v    ^[A-Za-z0-9+/]{40,}={0,2}
token        e2b_                                 v    ^[0-9a-f]{40}(?!\w)
token        AGE-SECRET-KEY-                      gv   ^[A-Z0-9]{40,}
token        mdb_sa_sk_                           v    ^[\w-]{30,}
token        fc-                                  v    ^[0-9a-f]{32}(?!\w)
token        sdk-,mob-                            v    ^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\w-])
token        ak-,as-,ak_                            v    ^(?=[a-zA-Z]*\d)[A-Za-z0-9]{20,22}(?!\w)
token        _live_,_test_,_prod_,_sk_,_secret_   v    (?<![\w\\-])(?!pk_)[a-z]{2,12}(?:_live|_test|_prod|_sk|_secret)_(?=[a-z]*[A-Z\d])[\w-]{20,}
aws          IQoJb3JpZ2lu,FwoGZXIvYXdz            v    ^[\w+/=%]{100,}
token        -us                                  gd   (?<!\w)[0-9a-f]{32}-us\d{1,2}(?!\w)
"""
"""Kind, marks (one of them must stand in the text), sources, pattern. The secret is group `s`, else the whole match. `^`
stands for a mark where a word begins (in JSON, after a written line end; in a URL, after `%3D`)."""

PLACES = (
    ("private_key", "-----end", "gd", r"(?<![\w+/=\s\\])(?P<s>[\w+/=\s\\]++)-----end [a-z0-9 ]{0,40}private key", "tail"),
    ("url", "://", "gd", r"""://(?P<u>[^\s/:@"'<>\\]{0,128}):(?!(?P=u)@)(?P<s>[^\s/"'<>\\?]{1,256})@""", "in_url"),
    # connection strings: a value beside the name of who comes in, and users with their passwords
    ("password", "password=,pwd=", "v", r"""(?:user(?:name|_?id| id)?|uid|host|server|data source|dbname|database|catalog)\s?=[^\s=][^\n=]{0,80}(?:=[^\n=]{0,80}){0,6}?"""
     r"""[;&?\s](?:password|pwd)=(?P<b>\{)?(?P<s>(?(b)[^}\n;="\\]*[;=][^}\n"\\]*|[^\s;&"'\\{]{3,}))""", "solid"),
    ("password", ",password=,,pass=", "v", r"""(?<![\w-])(?:username|user)=[^\s,=]{1,64}(?:,[a-z_]{1,20}=[^\s,]{0,64}){0,6},pass(?:word)?=(?P<s>[^\s,"'\\]{3,64})""", "solid"),
    ("password", "net use", "v",
     r"""\bnet use\s+(?:\S{1,3}\s+)?(?:"(?:\\{1,4}|https?:)[^"\n]+"|(?:\\{1,4}|https?:)\S+)(?:\s+/[a-z]+(?::\S+)?)*\s+(?P<q>")?(?P<s>[^\s"'/*\\-](?(q)[^"\n\\]{3,}|[^\s"'\\]{3,}))""", "solid"),
    ("password", "mysql", "v", r"""\bmysql\w*\s(?:[^\n|;]{0,200}?\s)??-p(?P<s>[^\s"'\\|;&<>]{4,})""", "solid"),
    ("password", "redis-cli", "v", r"""\bredis-cli\s(?:[^\n|;]{0,200}?\s)??(?:-a|--pass)\s+["']?(?P<s>[^\s"'\\|;&<>]{4,})""", "solid"),
    ("password", "smbclient,rpcclient,mount", "v", r"""\s(?:-u\s*|username=)["']?[\w.\\@-]{1,64}%(?P<s>[^\s"'\\]{3,})""", "solid"),
    ("password", "psk=", "v", r"""(?m)^\s{0,8}(?:psk|wpa_passphrase)=["']?(?P<s>[^"'\n]{8,63})["']?\s{0,4}$""", "solid"),
    ("password", "openssl", "v", r"""\bopenssl\s[^\n|;]{0,200}?\s(?:-k\s+|-pass(?:in|out)?\s+pass:)["']?(?P<s>[^\s"'\\|;&<>]{4,})""", "solid"),
    ("password", "thin:,oci:", "v", r"""jdbc:oracle:\w{3,4}:[\w$#.]{1,64}/(?P<s>[^\s/"'\\]{3,64})@""", "solid"),
    ("password", "login", "d", r"""\blogin[ \t]+\S{1,64}[ \t]+password[ \t]+(?P<s>[^\s"'\\]{3,})""", "solid"),
    ("password", ":5432:,:5433:,:6432:,:*:", "v", r"""(?<!\S)[\w.*\\-]{1,128}:(?:\d{4,5}|\*):[^\s:]{1,64}:[^\s:]{1,64}:(?P<s>[^\s"'\\]{3,128})""", "solid"),
    ("password", "identified ,password ',password = '", "v", r"""\b(?:identified(?: with \w{1,40})? by|(?:with|login|encrypted) password(?: ?=)?|set password for [^\s=]{1,80} ?=) ?(?P<q>['"])(?P<s>[^'"\n\\]{3,128})(?P=q)""", "solid"),
    ("key", "\"kty\"", "v", r'"kty"[^{}]{0,600}?"(?:d|k)"\s*:\s*"(?P<s>[\w-]{20,})"', ""),
    ("secret", ":", "v", r"""(?<![\w/:.@%-])(?!(?:sha|md)\d)(?=[\w-]*\d)[\w-]{8,64}:(?P<s>(?=[\w+/=.~-]*\d)[\w+/=.~-]{24,200})(?![\w:/@-])""", "dense"),
    ("url", "://", "gd", r"""://(?P<s>[\da-f]{8,64}:[\da-f]{8,64})@""", ""),
    ("url", "://", "d", r"://(?P<s>[\w-]{20,256})(?:@|:x-oauth-basic@)", "token"),
    ("azure", "accountkey=,accesskey=,sig=", "gd", r"(?:(?:account|access)key|[?&;]sig)=(?P<s>[\w+/%=-]{30,})", ""),
    ("url", "signature=", "v", r"[?&]x-(?:amz|goog|oss)-signature=(?P<s>[\w%+/=-]{16,})", ""),
    # what stands for who comes in, in a link that is mailed
    ("url", "token=,ticket=,code=,secret=,auth=", "v", r"""://[^\s"'<>\\]{1,300}?[?&](?:[a-z]{1,16}[_-]){0,2}(?:token|ticket|code|secret|auth)=(?P<s>[\w.~%+/=-]{20,})""", "token"),
    ("webhook", "webhook,hooks.,/hook/,/hooks/", "gtv", r"""://[\w.:-]{0,80}(?:/[^\s"'<>\\]{0,120}?)?hooks?[\w.]{0,40}(?:/[a-z_]{1,20}|/v\d){0,3}"""
     r"""/(?P<s>[^\s"'<>\\?#]{10,300})""", "path"),
    ("webhook", "hook/send,hook/hook", "v", r"""hook[a-z]{0,3}/(?:send|hook)\?key=(?P<s>[\w-]{16,})""", ""),
    ("webhook", "maker.ifttt", "v", r"""://maker\.ifttt\.com/[^\s"'<>\\]{1,120}/key/(?P<s>[\w-]{16,})""", ""),
    ("webhook", "events.pagerduty", "v", r"""://events\.pagerduty\.com/integration/(?P<s>\w{20,})""", ""),
    ("webhook", "://hook.", "v", r"""://hook\.[\w.]{2,40}/(?P<s>\w{16,})""", "token"),
    ("otp", "otpauth://", "bt", r"""otpauth://[^\s"'<>\\]{0,200}?[?&]secret=(?P<s>[a-z2-7]{8,}=*)""", ""),
    ("otp", "setup key,secret key,secret:,totp,2fa,otp", "b", r"\b(?:key|secret|seed|code|2fa|totp)\b(?:[ \w]{0,16}?[:=]?|[^\n:]{0,60}:)\s*"
     r"(?P<s>[a-z2-7]{4}(?: [a-z2-7]{4}){3,15}|(?:[a-z2-7]{8}){2,8})(?!\w)", "base32"),
    ("authorization", "authorization", "gd",
     r"""authorization{QUOTES}(?:bearer|basic|token|digest|apikey)\s+(?P<s>[^\s"'\\,;]{6,})""", "authorization"),
    ("authorization", "x-", "v", r"(?<![\w-])x-(?:[a-z]{1,20}-){0,3}(?:key|token|secret){QUOTES}(?P<s>[\w.~+/=-]{16,})", "dense"),
    ("authorization", "basic ", "d", r"basic\s+(?P<s>[\w+/]{10,}={0,2})(?!\w)", "basic"),
    ("authorization", "bearer", "d", r"bearer(?:\s+|%20|[\"']?[:,]\s*[\"']?)(?P<s>[\w.~+/=-]{16,})", "token"),
    ("cookie", "cookie", "v", r"""cookie{QUOTES}(?!(?:theme|lang|locale|mode|consent)=[^;\n]{0,20}(?:; (?:path|max-age|samesite|secure|httponly|expires|domain)[^\n;]*)*$)(?P<s>[\w.-]+=[^\r\n"'\\]{8,})""", "coded"),
    ("cookie", "sess,sid=,_token=,_token\\t,li_at", "v",
     r"""(?:\b(?:[a-z_.-]*sess(?:ion)?[\w.-]{0,20}|sid|li_at|connect\.sid|(?:remember|auth)[\w-]{0,16}token))["']?(?:=|\t|\s?:\s?["']|",\s*"value":\s*)["']?(?![\da-f]{8}-[\da-f]{4}-)(?P<s>[\w.%+/=-]{20,})""", "dense"),
    ("cookie", "curl", "v", r"""\bcurl\s(?:[^\n|;]{0,200}?\s)??(?:-b\s{0,2}|--cookie[ =])["']?(?P<s>[\w.-]+=[^\r\n"'\\]{8,})""", "coded"),
    # the fields of OAuth (RFC 6749), and what is called like them
    # a variable of a shell, at the head of a command
    ("token", "token=", "v", r"""(?m)(?:^|[;&|]\s{0,2}|\b(?:export|env)\s{1,2})(?:[a-z\d]{1,16}_){0,4}token=["']?(?P<s>[^\s"'\\;|&<>,()]{6,})""", "mixed"),
    ("token", "_token,_secret", "v", r"""_(?:token|secret)["']?\s{0,2}[:=]\s{0,2}["']?(?P<s>[\w.~+/=-]{24,})""", "dense"),
    # what a file of settings assigns, at the head of its line
    ("password", "password=,passwd=,_pass=", "d", r"""(?m)^(?:export )?(?:[a-z\d]{1,16}_){1,4}(?:password|passwd|pass)=["']?(?P<s>[^\s"'\\\u0080-\uffff,;()]{4,64})["']?$""", "solid"),
    # detect-secrets' keywords with a value in quotes, and an option of a command
    ("password", "pass,pwd,secret,api,key,contrase", "d",
     r"""(?:(?:api|auth|service|account|db|database|priv|private|client)_?key|(?:db|database|key)_?pass|password|passwd|pwd|secret|contraseña|contrasena)\w{0,24}"""
     r"""(?:\\{0,3}["'`\]]){0,2}\s{0,8}(?::\s?\w{1,12}\s?=|:=|[!=]?={1,3}>?|:)\s{0,8}(?P<q>\\{0,3}["'`])(?P<s>[^\s"'`\\]{6,128})(?P=q)""", "mixed"),
    ("password", "password,passcode", "v", r"""\bpass(?:word|code)(?: (?:is|was)|:)\s{1,3}["'`]?(?P<s>[^\s"'`\\]{5,64})""", "mixed"),
    ("password", "--", "v", r"""(?<![\w-])--?(?:[a-z]{1,16}-){0,3}(?:password|passwd|passphrase|passcode|pass|pwd)=(?P<q>["'])?(?P<s>(?(q)[^"'\\\n]{4,}|[^\s"'\\;|&<>]{4,}))""", "solid"),
    ("password", "--", "v", r"""(?<![\w-])--?(?:[a-z]{1,16}-){0,3}(?:password|passwd|passphrase|passcode|pass|pwd)\s{1,4}["']?(?P<s>[^\s"'\\;|&<>-][^\s"'\\;|&<>]{3,})""", "mixed"),
    ("password", "--passphrase", "v", r"""(?<![\w-])--passphrase[\s=]{1,4}(?P<q>["'])(?P<s>(?![${])[^"'\\\n]{4,})(?P=q)""", "solid"),
    ("code", " key ", "v", r"""(?:wi-?fi|wlan|ssid|router|fritz)[^\n]{0,40}? key:? (?P<s>\d{4}(?: \d{4}){3,4})(?! ?\d)""", ""),
    # who comes in, and with what: an address and a sign between the two
    ("password", "@", "v", r"""[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{2,24}){1,3} ?/ ?(?P<s>(?=\S*[a-z])(?=\S*[\d#$%&*+~^!])[^\s"'\\/|]{6,64})(?=[.,;]?(?:\s|$))""", "coined"),
    # the password of an app in a call that signs in, and a value behind its name in the arguments of any call
    ("password", "login", "v", r"""\blogin\(\s?["'][^"'\n]{1,64}["'],\s?["'](?P<s>[a-z]{4}(?: [a-z]{4}){3})["']""", "jumbled"),
    ("password", "password\",password'", "v", r"""["'][\w.-]{0,60}password["'],\s?["'](?P<s>[^\s"'\\]{6,64})["']""", "mixed"),
    # a quoted name that says no more than that it is a password, and words with a number or a sign between them
    ("password", "password\",passwd\",pwd\",passwort\",senha\",contraseña\"", "v", r"""["'](?:password|passwd|pwd|passwort|senha|contraseña)["']\s?(?::|=>)\s?["'](?P<s>[^\s"'\\]{6,64})["']""", "joined"),
    # what a program has just made, or is joined with
    ("password", "password is generated", "v", r"""\btemporary password is generated for \S{1,80}: (?P<s>\S{6,64})""", ""),
    ("token", "--", "v", r"""(?<![\w-])--(?:[a-z]{1,16}-){0,3}token[ =]["']?(?P<s>[\w.~+/=-]{16,})""", "token"),
    ("key", "unseal key", "v", r"""\bunseal key \d{1,2}: (?P<s>[\w+/=]{20,})""", ""),
    # a licence in rows of eight letters and digits
    ("key", "license,licence", "v", r"""\blicen[cs]e\b[^\n]{0,60}(?:\n[^\n]{0,60}){0,4}?\n(?P<s>(?:[a-z\d]{2,8}-\d{4,8}\s*\n)?(?:[a-z\d]{8}(?: [a-z\d]{8}){3}(?:\s*\n|$)){1,12})""", "base32"),
    # the label of a router, and the key alone on the next line
    ("password", "key", "v", r"""(?m)^[^\n]{0,16}\b(?:network|security|wi-?fi|wlan|wpa2?|wireless) key(?: \([\w/ -]{2,16}\))?[ \t]*:?[ \t]*\r?\n[ \t]{0,8}(?P<s>(?=\S*[\d#$%&*+~^])[^\s"'\\]{8,63})[ \t]*(?=\r?\n|$)""", "coined"),
    # what is told by an option or a call of a program's own
    ("password", "schtasks", "v", r"""\bschtasks\b[^\n]{0,300}?\s/rp\s+"?(?P<s>[^\s"*]{4,})""", "solid"),
    ("password", "7z,rar,zip", "v", r"""\b(?:7z[ar]?|rar|unrar|zip)\s(?:[^\n|;]{0,120}?\s)??-p(?P<q>["'])?\s?(?P<s>[^\s"'\\-][^\s"'\\]{3,})""", "mixed"),
    ("password", "assword", "v", r"""assword:?["'}]{0,2}\s{0,4};?\s{0,8}send(?:line)?\s{1,4}(?:--\s{1,4})?["'{](?P<s>[^"'\\\n$]{4,})""", "solid"),
    ("password", "password,passwd,passwort,kennwort", "v", r"""(?:password|passwd|passwort|kennwort)["'`\])]{1,4}\.(?:fill|type|send_?keys|set_?value|clear_and_type)\(\s?["'`](?P<s>[^"'`\n\\]{4,})""", "solid"),
    ("password", "password',password\"", "v", r"""\.(?:fill|type)\(\s?["'`][^"'`\n]{0,40}password[^"'`\n]{0,8}["'`],\s?["'`](?P<s>[^"'`\n\\]{4,})""", "solid"),
    ("password", "random_password", "v", r'''"result":\s*"(?P<s>[^"\n]{6,})"[^{}]{0,400}"random_password"''', ""),
    ("key", "genkey,genpsk", "v", r"\b(?:genkey|genpsk)\b[^\n]{0,40}\n(?P<s>[\w+/]{43}=)(?!\w)", ""),
    ("azure", "key1,key2,primary,secondary", "v", r"\b(?:key[12]|(?:primary|secondary)[ _-]?key)\b[^\n]{0,60}?(?<![\w+/])(?P<s>[\w+/]{86}==)", ""),
    ("password", "wifi:", "v", r"""\bwifi:[^\n]{0,160}?(?<=[;:])p:"?(?P<s>[^;"\n]{4,63})""", "solid"),
    ("password", "app", "v", r"""\bapp[ -]?pass[a-zß]{3,10}\b[^\n]{0,24}?["'“„«: ](?P<s>[a-z]{4}(?: [a-z]{4}){3})(?!\w)""", "jumbled"),
    ("password", "password=,passphrase=,passwd=,_pass=", "v", r"""(?<![\w-])\w{0,40}(?:password|passphrase|passwd|_pass)=(?P<q>["'])(?P<s>(?!\s?[:,\]}]|[${])[^"'\n\\]{2,64} [^"'\n\\]{2,64})(?P=q)(?!\s*[;,]\s*\w+=)""", "said"),
    ("card", "cvv,cvc,csc", "v", r"""\b(?:cvv2?|cvc2?|csc)\b["' :=]{0,5}(?:is |code |number ){0,2}(?P<s>\d{3,4})(?!\w)""", "check"),
    ("card", "code", "v", r"\d{4}[ -]?(?:\d{6}[ -]?|\d{4}[ -]?\d{4}[ -]?)\d{4,5}\b[^\n]{0,40}\bcode:? (?P<s>\d{3,4})(?!\w)", ""),
    # letters large and small, a number, and a sign between them, in a word that stands alone
    ("password", "!", "v", r"""(?:^|(?<=[\s"'“„«(]))(?P<s>(?=[^\s"']{0,60}\d)(?=[^\s"']{0,60}[a-z])[\w.#$%&+-]{2,30}![\w.#$%&+-]{1,29}[\w#$%&+-])(?=["'”“»)]?[.,;:!?]?(?:\s|$))""", "varied"),
    # what a command is told by an option of its own
    ("password", "curl,wget", "gd",
     r"""\s(?:--user[ =]|--?u[ =]|-u(?=\w)|-[a-z]{1,5}u |--proxy-user[ =])(?P<q>["'])?[^\s:"']{1,64}:(?!\d{1,5}\b)"""
     r"""(?P<s>(?(q)[^"'\\\n]{3,}|[^\s"'\\@]{3,}))""", "solid"),
    ("private_key", "private-lines", "v", r"private-lines: ?\d+\s(?P<s>[\w+/=]{20,}(?:\s[\w+/=]{20,})*(?:\s{1,4}private-mac: ?[\da-f]{20,})?)", ""),
    ("password", "ldap", "v", r"""\bldap\w{2,10}\s[^\n|;]{0,200}?\s-w\s+["']?(?P<s>[^\s"'\\-][^\s"'\\]{3,})""", "solid"),
    ("token", "mailgun", "g", r"(?<!\w)(?P<s>[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8})(?!\w)", ""),
    ("private_key", "wif ,private key", "b", r"\b(?:wif|private key)\b[^\n\w]{0,6}(?P<s>(?:[5kl][1-9a-hj-np-z]{50,51}|0x[0-9a-f]{64}))\b", ""),
    # a private key beside its name, and what a program has just made for one
    ("private_key", "private key", "b", r"(?P<s>\b0x[0-9a-f]{64}\b)[^\n]{0,40}\bprivate key", ""),
    ("hash", "$", "v", r"(?<!\w)\${1,2}(?:[156y]|2[abxy]|apr1|sha1|argon2(?:id?|d)|scrypt|pbkdf2[\w-]*|7)\${1,2}(?P<s>[\w./$=,+-]{20,})", ""),
    ("password", "admin,root,管理", "v", r"(?:(?<![\w/.@-])(?:admin|root|administrator|postgres)|管理者|管理员)(?:[:/] ?| / )(?P<s>[^\s\"'/:\\,]{6,64})(?=[.,;]?(?:\s|$))", "coined"),
    ("code", "code,código,codici,コード,码", "d",
     r"(?:\b(?:backup|back-up|recovery|rescue|emergency|scratch|wiederherstellungs|notfall|ersatz)[ _-]?codes\b|\bcodes de (?:secours|récupération)\b|\bcódigos de (?:respaldo|recuperación|recuperação|reserva|backup)\b"
     r"|\bcodici di (?:backup|recupero|riserva)\b|(?:バックアップ|リカバリー|リカバリ)コード|备用码|恢复码)[^\n:：]{0,60}[:：]?[\"'\s:：\[|-]{0,12}"
     r"(?P<s>{LISTED}{BACKUP}(?:[\"']?[ \t]{0,4}(?:[,;|/\s\"'-]|and|y|et|und|e|or){1,6}[ \t]{0,4}[\"']?{LISTED}{BACKUP}){1,24})(?!\w)", "digit"),
    ("seed", "助记词,助記詞", "b", r"助[记記][词詞]\s?[:：是]?\s?(?P<s>[一-龥]{1,3}(?:[ ，、][一-龥]{1,3}){11,23})", ""),
    ("password", "phrase,frase,phrase,losung", "d",
     r"""(?:passphrase|pass phrase|phrase secrète|phrase de passe|frase de (?:paso|acceso|contraseña|seguridad)|frase secreta"""
     r"""|frase segreta|frase-passe|frase-senha|frase d'accesso|passwortsatz)(?: \w[^\n:.,;!?"“«`]{0,24}?)?(?:\s(?:is|was|es|est|ist|lautet|é|è)|\s?:)\s{0,2}(?:["'“`]|«\s?)?"""
     r"""(?P<s>[^\W\d_][^\n.\\"”»`,;!?]{7,100})""", "phrase"),
    ("card", "CARD", "d",
     r"[2-6](?:(?<![\w.+/-].)|(?<=\\[nrt].))"
     r"(?:\d{12,18}|\d{3}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?|\d{3}([ -])\d{6}\2\d{4,5})(?!\w|[.-]\d)", "luhn"),
)  # fmt: skip
"""The same for the text in small letters; the test, by its name in `redaction`, sees the value as it is written."""

PARTS = {
    "BEGIN": r"(?:(?<!\w)|(?<=\\[nrt]))",
    "ASSIGNED": r"""[ \t\w.-]{0,20}[\s'"]{0,3}""",
    "OPERATOR": r"""(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[`'"\s=]{0,5}""",
    "WORD": r"(?:[A-Za-z\u00c0-\u04ff]{2,}\d{0,4}|\d{1,4})",
    "CUT": r"\s*+(?:\Z|\.\.\.|…|\[)",
    "PEM": r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----",
    "GAP": r"""(?:\s|(?<=\n)[>+|#] ?|(?<=[\n ])\d{1,4}[ :|]|\\[nrt]|["'] *\+?\s*\n\s*["']|Proc-Type:[^\n\\]*|DEK-Info:[^\n\\]*)*""",
    "PIECE": r"(?:[A-Za-z]{1,24}\d{0,2}|[Vv]?\d{1,4})",
    "BACKUP": r"(?:\d{4} \d{4}|(?=[a-z\d]*(?:\d|-))[a-z\d]{4,12}(?:-[a-z\d]{3,12}){0,4}|[a-z\d]{4} [a-z\d]{4}(?=[,;\n]|$))",
    "LISTED": r"(?:[-*•] |\d\d?[.)] )?",
    "DENSE": r"(?=[A-Za-z]*\d)[A-Za-z0-9]",
    "QUOTES": r"""(?:\\{0,3}["'])?\s{0,2}[:=]\s{0,2}(?:\\{0,3}["'])?""",
}
"""What patterns have in common, by the name that stands for it."""

STATES = (
    " antiga antigo nova novo vieja viejo vieux ancienne alt alte neu vecchia nuova obbligatoria obligatoria obligatoire erforderlich obrigatória"
    " not wrong right correct incorrect invalid valid expired missing weak strong secure insecure safe long short empty"
    " blank unknown required needed optional stored saved kept hashed encrypted changed reset being going always never"
    " still also just only really very that this what where there here easy hard same different somewhere secret"
    " private public leaked compromised working broken visible hidden used asked over with from case about too stolen"
    " abgelaufen falsch vergessen unsicher schwach sicher lang kurz weg gesperrt richtig geheim nicht"
    " caducada caducado incorrecta incorrecto olvidada débil segura corta larga vacía"
    " expiré expirée incorrect oublié oubliée faible trop court long bloqué perdu"
    " expirou errada fraca forte curta longa esquecida vencida inválida"
    " scaduta scaduto sbagliata sbagliato debole sicura troppo corta lunga persa dimenticata "
)
"""What is said of a secret, and is none."""
FORMS = (
    " must should not cannot can't please does do has have was are be been enter choose type repeat confirm match matches required empty blank too short long least most"
    " minimum characters character letters words asked whole everyone explained invalid wrong incorrect expired "
)
"""What a form says of a passphrase."""
