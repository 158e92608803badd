r"""How people correct a coding agent, in eight languages: alternatives of regular expressions, by what they tell.

They are read at the start of a clause, behind courtesies ("^"), or anywhere in it. Data: the hook's copy holds modules
alone, so the table is one.

    opener    courtesies and fillers that may stand before anything
    no        a plain denial, behind which the rest begins
    deny      what the agent did or said is not what was wanted
    forbid    what is not to be done
    standing  what holds beyond this time
    always    words that say so, and that a task may hold as well
    order     how it is to be done
    ought     the same, said to the agent as a duty
    own       a thing of the user's own
    contrast  this and not that
    fact      how things are here
    hint      a question that asks for something else
    broken    a check that the agent could have run fails
    once      holds for this time alone
    report    what the user tells of their own doings, or says to go on
"""

TABLE = r"""
en opener  please|pls|ok(?:ay)?|hm+|um+|uh+|oh|ah|well|wait|hey|sorry|but|and|so|also|look|listen|yes|yeah|ugh|argh
   |seriously|actually|again|just|maybe|i think|i mean|i guess|q|question|that said|in general
en no  (?:no+(?:,? no)*|nope|nah|wrong)
en deny  ^no\b(?! (?:problem|worries|need|rush|idea|longer|tests?|errors?|changes?|\w+ing)\b)(?!,? (?:i think )?(?:this
   |that|it)(?:'s| is) (?:fine|ok|good|great))|^sure,? but\b|^are you (?:really |quite )?sure\b|\blet's not\b(?! worry)
   |^nope|^nah\b|^wrong|^incorrect|^not (?:what|that|quite|like)\b|^stop\b|\b(?:that|this|it|these|those)(?:'s| is| was
   | are| isn't| wasn't) (?:still |just |so |plain )?(?:wrong|incorrect|not (?:right|what|how|true|it)|no good)
   |\bi (?:already )?(?:said|told you|asked (?:you )?(?:for|to)|meant|didn't (?:ask|say|mean|want)|never (?:asked
   |said))\b|\bi (?:really )?(?:don't|do not) (?:quite |really )?(?:want|like)\b|\bwhy (?:did|are|didn't|don't
   |would) you\b|\bwhy (?:exactly )?(?:did|didn't) you\b|\byou(?:'re| are)? (?:still )?(?:forgot|missed|ignored?
   |ignoring|skipped|broke|overlooked|keep \w+ing)\b|\bhow (?:many times|often)\b|\byet again\b
   |\bstill (?:not (?:working|right|fixed|there)|see|seeing|shows?|wrong)\b|\bi (?:can't|cannot) see any\b|\b(?:isn't
   |aren't|doesn't|don't|not) really\b|\bi(?:'m| am) talking about\b|\b(?:has|have|you) broken?\b|\b(?:can
   |could) you (?:please )?(?:revert|undo|restore|roll)\b|^(?:revert|undo)\b|\broll(?: it| that| this)? back\b
   |\b(?:bring|put) .{1,30} back\b|\blooks? (?:duplicated|wrong|odd|off|weird)\b
   |^do we (?:really |even |still )?need (?:that|this|it|all|these|both)\b|^is(?: there
   |n't there) (?:no|already)\b|^(?:don't|didn't) we\b
   |\bnot you \w+ing\b|\bdoesn't mean\b|^(?:still|again) (?:broken|fail\w*|red|wrong|not)|\bstill (?:fail\w*|broken|red
   |not (?:working|passing))\b
   |\btoo (?:slow|expensive|risky|dangerous|noisy)\b(?=[,;.!]?\s*(?:$|don't|do not|never|skip|stop|avoid))
en forbid  ^no (?!problem|worries|need|idea|rush|errors?|changes?|longer|one|way|wonder|thanks|i\b|it\b|that\b|this\b
   |you\b|we\b|the\b)[\w-]+(?: [\w-]+)? (?:for|in|on|please|here|anymore|allowed)\b|^(?:don'?t|do not|dont)(?! (?:worry
   |mind|know|think|bother|forget|we|you|they|i)\b) \w+|^don'?t (?:even )?(?:bother|think of) \w+ing|^never (?!mind
   |\w+ed\b|been\b|had\b|seen\b)\w+|^no (?:more|unasked|need to|new|extra|force|direct|bare|\w+ing)\b|^not \w+ing\b
   |^stop (?!it$|that$|there$)\w+|^avoid \w+|^quit \w+ing|^leave .{1,60}? (?:alone|as (?:it|they)|untouched|out)
   |^hands off|^let(?:'s|s| us) not\b(?! worry)|^enough (?:of|with)\b|\b(?:please|and|but|just|,) (?:don'?t|do not
   |never|stop|avoid) (?!\w+ed\b|been\b|had\b|seen\b|worry\b)\w+|\byou (?:must not|mustn't|should(?:n't| not)|can(?:'t
   | ?not) just|may not|are not to)\b|\bwe (?:don'?t|do not|never|no longer) (?!know|have to|think|need)\w+
   |\bi (?:don'?t|do not|never) want (?:you|us|any|to)\b|\b(?:not|nothing) (?:without|unless|until|before)\b
   |\bwithout (?:asking|my)\b|\b(?:isn't|is not|aren't) (?:allowed|permitted|supposed)\b|\bthat(?:'s| is) too (?:slow
   |much|risky|dangerous)|^too (?:slow|expensive|risky|dangerous|noisy)
en always  (?<!it should )(?<!it must )(?<!they should )(?<!is )(?<!are )\balways\b(?! (?:lists?|shows?|says?|returns?
   |prints?|fails?|gets?|been|was|wrong|the same)\b)|^never (?!mind|\w+ed\b|been\b|had\b|seen\b)
   |(?<!can )(?<!could )(?<!should )(?<!do )\bwe (?:always|usually|use|prefer|keep|put|name|follow|write
   |run) (?!this to)|^make sure (?:to|you|that you|we)\b|^be sure to\b
en standing  \bfrom (?:now|here) on\b|\bgoing forward\b|\bin (?:the )?future\b|\bnext time\b|\b(?:each|every) time\b
   |\bwhenever you\b|\bas a rule\b|\bby default,? (?:use|run|don't|do)|^remember\b(?! when)|\bkeep in mind\b
   |\bi (?:much |'d |would )?(?:prefer|rather)\b|^prefer \w+|\bstick (?:to|with)\b|\bin this (?:repo(?:sitory)?|project
   |codebase|team)\b|\bhere we (?:use|run|write|don't)\b|\bour (?:convention|rule|policy|style|workflow)\b
en order  \byou (?:just )?(?:should(?!n't| not)|must(?!n't| not)|need to|have to|were supposed to|ought to
   |can just)(?: just| always| only)? \w+|\byou just should \w+|\bwe (?:should|must|need to|have to
   |just need to) (?!be (?:able|ok|fine|good))\w+|\bshould (?:be|use|have been|go|live|come|stay|not)\b(?! (?:fine|ok
   |good|enough|easy))|\b(?:must|has to|have to|needs to|is supposed to|ought to) \w+|\binstead\b|\brather than\b
   |^(?:just |only )?(?:use|run|write|keep|put|name|call|follow|ask|read|wait for|stay|work|rebase|pull|fetch
   |merge(?! conflicts)|format|fmt|lint|test|check|revert|branch|commit|push|base|make|set|do) (?!you|we|i )\S+|(?!that
   |this|it|these)\b\S+ first\b(?! (?:prompt|commit|time|line|test|to|of|one|case|and)\b)|\bi(?:'d| would) (?:rather
   |prefer|like)\b(?=.{0,80}\b(?:instead|than|not|only)\b)|^let(?:'s|s| us) (?!see|go\b|try\b|start|continue|discuss
   |talk|look|say\b|deal|not worry|roll|do (?:it|this)$|write (?:this|it|that) (?:plan )?down)\w+|\blet's (?:move|put
   |keep|use|make|do|base) |\bwe want (?:to|it|our|this) |\b(?:use|using) \S+.{0,40}\bonly\b|^only \w+|^branch and pr\b
en ought  \byou (?:just )?(?:should(?!n't| not| see| be able| know| have (?:seen|access))|must(?!n't| not| be)|ought to
   |need to (?:always|only)|have to (?:always|only)) \w+|\byou just should \w+|\bwe should be \w+ing\b|\bwe (?:must
   |have to) (?:always|only)\b|\bi (?:already |just |clearly )?(?:told|asked) you (?:not )?to \w+
   |\bi said (?:not )?to \w+
en own  ^my (?:[\w-]+ ){1,3}(?:is|are) [\w@./:-]+[.!]?$
en contrast  ^not .{2,80}?,? but\b|.{2,80}, not (?:the |a |an |as |just |only |in |on |to |from )?\w+|\bnot just the\b
   |\binstead of\b|\brather than\b|\bnot you \w+ing\b
en fact  \bmy (?:\w+ ){1,3}(?:is|are) \S+$|^(?:the |our |this )?[\w`'/.-]+(?: [\w`'/.-]+){0,3} (?:is|are|lives?
   |belongs?|goes|go|stays?|sits?|has|tracks?|uses?|needs?|comes?)(?: (?!what|why|how|when)\w+){0,4}? (?:a|an|the|in|on
   |at|to|into|from|under|checked|opened|open|called|named|only|different|another|already|used|based)\b.*
   |\bwe are (?:in|on|using)\b|\bis checked out\b
en hint  ^(?:can|could|should|shall|may) (?:we|it|this|that|they|i|these|those|the)\b(?! (?:check|see|do a|have a look
   |look|review|figure)\b)|^(?:can|could|would|will) you (?:please |also |just )?(?:not|use|stop|always|avoid|keep
   |make sure|run|revert|put|move|follow)\b|\bcan you revert\b|^(?:can|could|should|would|is|are|do|does|did|was|were
   |have|has)(?:n't| not) \w+|^is there (?:no|a reason|any reason|not|any way|already)\b|^(?:are|is) (?:these|those|all
   |this|that) .{0,60}(?:really (?:the|needed|necessary|what)|necessary|needed|way to go)|^(?:any
   |is there any) (?:chance|way|reason)\b|^why (?:not|don't|do we|are we|isn't|can't|didn't)\b|^do we (?:really|even
   |still) need\b|^do we need (?:that|this|it|all|these|both)\b|^what about\b|^how about\b|\b(?:no|right|yeah)\?
   |\bany better\b|\bdidn't we\b|\bdo we not\b|\bdid (?:we|you) (?:not|end up|forget|miss|run|check|test|even)\b
en broken  \A(?:(?:the|our|these|all|now|still|some|there are) )?(?:\S+ ){0,2}?(?:lint(?:er|ing)?|tests?|test:\S+|ci
   |build|builds|types?|type ?check\w*|fmt|format\w*|e2e|integration|unit|pipeline|checks?|compil\w+|mise run \S+
   |make \S+|npm \S+|cargo \S+|pytest|go (?:test|vet|build)\S*)\b.{0,30}\b(?:fail(?:s|ed|ing|ures?)?|broken?|red
   |not (?:pass|work|green)\w*|(?:doesn't|does not|don't|won't) (?:pass|work|compile|build)|error(?:s|ed|ing)?)\b
en once  \bfor now\b|\bthis (?:one )?time\b|\bjust this once\b|\bright now\b|\btoday\b|\bat the moment\b|\byet$
   |\btemporar\w+|\banything\b|\buntil i\b|\bwait for me\b|\blater\b
en report  ^i(?:'ve| have|'ll| will|'m| am) (?!not\b)|^i (?:was|tried|did|ran|continued|updated|fixed|already (?:did
   |fixed|ran|pushed)|checked|just|messed|wonder|see|saw|got|don't (?:know|see)|believe|forgot|realized|noticed)\b
   |^(?:keep|go) (?:going|on|ahead)\b|^continue\b|^try (?:it |that )?again\b|^never ?mind\b|^thanks?\b|^we(?:'ve| have
   |'re) (?:more|got|back|inbound)|^success\b|^the user wants\b|^two more\b|^one more\b|^another couple\b
es opener  por favor|vale|ok(?:ay)?|eh+|oh|bueno|espera|oye|hola|perd[oó]n|pero|y|as[ií] que|mira|s[ií]|en serio
   |tambi[eé]n|otra vez|quiz[aá]s?|creo que|en general|pues
es no  no(?=,)|no(?=\s*no\b)
es deny  ^no,|^no$|^mal\b|^incorrecto|^para\b(?! (?:que|el|la|los|las|un|eso)\b)|\b(?:eso|esto|as[ií]) (?:no (?:es|era
   |est[aá])|est[aá] mal)|\bya (?:te )?(?:dije|lo dije)|\bte (?:dije|ped[ií])\b|\bno te (?:ped[ií]|dije)\b
   |\bno quer[ií]a\b|\bno quiero\b|\bpor qu[eé] (?:has|no has|hiciste|est[aá]s)\b|\bte (?:has )?(?:olvid|salt
   |equivoc)\w+|\bsigues \w+ndo\b|\bcu[aá]ntas veces\b|\bsigue (?:fallando|roto|rota|sin|mal|igual)\b
   |\bdemasiado (?:lent|car|arriesgad)[oa]s?\b
es forbid  ^no (?!s[eé]\b|hay\b|te preocupes|importa|es\b|est[aá]\b|pasa\b|veo\b|funciona\b|compila\b|pasan?\b|tengo\b
   |entiendo\b)(?:me |te |lo |la |los |las |se |vuelvas a |hagas )?\w{3,}|^nunca \w+|^jam[aá]s \w+|^evita\w* \w+
   |^deja de \w+|^ni se te ocurra|^nada de \w+|^no m[aá]s\b|^sin \w+|^prohibido\b|\bno (?:debes|puedes|tienes que
   |hay que|se debe|queremos|usamos|hacemos|quiero que)\b|\bsin (?:preguntar|pedir|permiso|avisar)\b
   |^demasiado (?:lento|caro|arriesgado)|\by no (?:hagas|toques|uses|subas|ejecutes|cambies|crees|borres)\b
   |\bdejad?\b.{1,40}\b(?:en paz|como est[aá])
es always  \bsiempre\b|\bnunca\b|\bjam[aá]s\b|\b(?:usamos)\b|^aseg[uú]rate de\b
es standing  \b(?:de|a partir de) ahora\b|\ben adelante\b|\ben el futuro\b|\bla pr[oó]xima vez\b|\bcada vez que\b
   |\bpor regla general\b|^recuerda\b|^acu[eé]rdate\b|\bten en cuenta\b|^aseg[uú]rate de\b|\bprefiero\b
   |\baqu[ií] (?:usamos|se usa|no)\b|\ben este (?:repo\w*|proyecto)\b|\b(?:usamos|nuestra (?:convenci[oó]n|norma
   |regla))\b
es order  \b(?:debes|deber[ií]as|tienes que|hay que|ten[ií]as que|hab[ií]a que|debe|deber[ií]a)\b|\ben (?:vez
   |lugar) de\b|\ben su lugar\b|\bmejor (?!no s[eé])\w+|^(?:solo |s[oó]lo )?(?:usa|utiliza|ejecuta|corre|escribe
   |mant[eé]n|pon|nombra|sigue|pregunta|lee|espera|haz|crea|revisa|comprueba|formatea|prueba)\b|\bprimero\b
   |\bantes de \w+r\b|^que (?:uses|ejecutes|sea)\b
es ought  \b(?:siempre debes|debes|deber[ií]as|tienes que|ten[ií]as que|deber[ií]amos (?:usar|estar))\b(?= \w+)
   |\bte (?:dije|ped[ií]) que (?:no )?\w+
es own  ^mi (?:[\w-]+ ){1,3}es [\w@./:-]+[.!]?$
es contrast  ^no .{2,80}?,? sino\b|.{2,80}, no (?:el |la |los |las |un |una |en |con )?\w+|\ben (?:vez|lugar) de\b
es fact  \bmi (?:\w+ ){1,3}es \S+$|^(?:el |la |los |las |nuestr[oa]s? )?[\w`'/.-]+(?: [\w`'/.-]+){0,3} (?:est[aá]n?
   |vive|va|usa|necesita|es|son|se llama)(?: \w+){0,3} (?:en|a|un|una|el|la|con|bajo|otro|otra|distint[oa]|abierto)\b.*
es hint  ^(?:¿ ?)?(?:podemos|podr[ií]amos|deber[ií]amos|no deber[ií]amos|no podemos|no podr[ií]amos|no hay
   |no ten[ií]amos|no es|no ser[ií]a|hace falta|por qu[eé] no|hay (?:alguna )?(?:forma|manera)|y si)\b
es broken  \A(?:(?:el|la|los|las|el/la|ahora) )?(?:\S+ ){0,2}?(?:lint\w*|tests?|pruebas?|ci|build|compilaci[oó]n
   |formato|integraci[oó]n|pipeline|comprobaciones|mise run \S+|make \S+|npm \S+|pytest)\b.{0,30}\b(?:falla\w*
   |fallan\w*|fallando|rot[oa]s?|en rojo|no (?:pasan?|funciona\w*|compila\w*)|errores?)\b
es once  \bpor ahora\b|\besta vez\b|\bde momento\b|\bhoy\b|\btodav[ií]a$|\bnada m[aá]s por\b|\bluego\b
es report  ^(?:ya )?(?:he|lo he)\b|^voy a\b|^estoy\b|^sigue (?:as[ií]|adelante)?$|^contin[uú]a\b|^adelante\b
   |^int[eé]ntalo\b|^gracias\b|^acabo de\b|^me (?:equivoqu[eé]|olvid[eé])\b
fr opener  s'il (?:te|vous) pla[iî]t|stp|svp|ok(?:ay)?|euh+|oh|bon|attends?|h[eé]|salut|d[eé]sol[eé]e?|pardon|mais|et
   |alors|donc|aussi|oui|encore une fois|je pense que|en fait|en g[eé]n[eé]ral|s[eé]rieusement
fr no  non
fr deny  ^non\b|^faux\b|^arr[eê]te\b|^pas (?:ça|ce que|comme)\b|\b(?:ça|ce|c')'?(?:est|[eé]tait|n'est)? ?(?:pas (?:ça
   |bon|juste|correct|ce que)|faux|toujours faux)|\bj'(?:ai|avais) (?:d[eé]jà )?(?:dit|demand[eé])\b|\bje (?:t'
   |vous )(?:ai|avais) (?:dit|demand[eé])|\bje n'ai (?:pas|jamais) (?:dit|demand[eé])|\bje ne veux pas\b
   |\bpourquoi (?:as-tu|tu as|n'as-tu pas|avez-vous|tu n'as)\b|\btu as (?:oubli|ignor|saut|cass)\w+|\bcombien de fois\b
   |\b(?:toujours|encore) (?:cass[eé]|en [eé]chec|pareil|rouge|faux|pas)
   |\btrop (?:lent|cher|risqu[eé])\w*\b
fr forbid  ^n(?:e |')\S+(?: \S+){0,4}? (?:pas|jamais|plus|rien)\b|^[eé]vite\w* |^arr[eê]te(?:z)? de \w+|^pas (?:de|d'
   |besoin|touche)\b|^plus (?:de|d'|jamais)\b|^jamais (?:de|d')?\b|^interdit\b|^cesse de\b
   |^laisse\b.{1,40}\b(?:tranquille|tel quel|comme)|^sans (?:me )?\w+|\btu ne (?:dois|peux|devrais) (?:pas|jamais)\b
   |\bil ne faut (?:pas|jamais)\b|\bon n(?:e |')\S+ (?:pas|jamais|plus)\b|\bje ne veux pas que\b|\bsans (?:demander
   |me demander|permission|prévenir)\b|^trop (?:lent|cher|risqu[eé]|long)|\bet n(?:e |')\S+(?: \S+){0,3}? (?:pas|jamais
   |rien)\b
fr always  \btoujours\b(?! (?:pas|faux|cass|en [eé]chec|rouge|le m[eê]me))|\bjamais\b|\bon utilise\b|^assure-toi\b
fr standing  \bd[eé]sormais\b|\bdor[eé]navant\b|\bà partir de maintenant\b|\bà l'avenir\b|\bla prochaine fois\b
   |\bchaque fois que\b|\ben r[eè]gle g[eé]n[eé]rale\b|^rappelle-toi\b|^souviens-toi\b|^n'oublie pas de\b|^assure-toi\b
   |\bje pr[eé]f[eè]re\b|\bici,? on (?:utilise|[eé]crit|lance|ne)\b|\bdans ce (?:d[eé]p[oô]t|projet|repo)\b
   |\bon utilise\b|\bnotre (?:convention|r[eè]gle)\b
fr order  \b(?:tu (?:dois|devrais|devais|aurais d[uû])|il (?:faut|fallait|faudrait)|on (?:doit|devrait))\b|\b(?:doit
   |devrait|doivent) \w+|\bau lieu de\b|\bplut[oô]t\b|\bà la place\b|^(?:juste |seulement )?(?:utilise|lance|ex[eé]cute
   |[eé]cris|garde|mets|nomme|suis|demande|lis|attends|fais|cr[eé]e|v[eé]rifie|formate|teste|passe par)\w*\b
   |\bd'abord\b|\bavant de \w+
fr ought  \b(?:tu (?:dois|devrais|aurais d[uû])|on devrait (?:utiliser|toujours)|il faut toujours)\b|\bj(?:e t)?'(?:ai
   |avais) (?:d[eé]jà )?(?:dit|demand[eé]) de\b
fr own  ^mon (?:[\w-]+ ){1,3}est [\w@./:-]+[.!]?$
fr contrast  ^pas .{2,80}?,? mais\b|.{2,80}, pas (?:le |la |les |l'|un |une |en |dans |sur )?\w+|\bau lieu de\b
   |\bplut[oô]t que\b
fr fact  \bmon (?:\w+ ){1,3}est \S+$|^(?:le |la |les |l'|notre |nos )?[\w`'/.-]+(?: [\w`'/.-]+){0,3} (?:est|sont|vit|va
   |vont|utilise|s'appelle|se trouve)(?: \w+){0,3} (?:dans|sur|en|un|une|le|la|sous|ouvert|extrait|autre)\b.*
fr hint  ^(?:peut-on|pourrait-on|on (?:peut|pourrait|ne peut|ne pourrait|devrait|ne devrait)|devrait-on|ne (?:peut
   |devrait|pourrait)-on|est-ce qu'on (?:ne )?(?:peut|devrait|a)|n'y a-t-il pas|il n'y a pas|y a-t-il (?:moyen
   |une raison)|pourquoi (?:pas|ne)|a-t-on (?:vraiment )?besoin|et si)\b
fr broken  \A(?:(?:le|la|les|des) )?(?:\S+ ){0,2}?(?:lint\w*|tests?|ci|build|compilation|format\w*|int[eé]gration
   |pipeline|mise run \S+|make \S+|npm \S+|pytest)\b.{0,30}\b(?:[eé]chou\w+|en [eé]chec|cass[eé]\w*|rouge
   |ne (?:passe\w*|marche\w*|compile\w*)|plante\w*|erreurs?)\b
fr once  \bpour l'instant\b|\bpour le moment\b|\bcette fois\b|\baujourd'hui\b|\bplus tard\b|\bencore$
fr report  ^j'(?:ai|y)\b(?! (?:d[eé]jà )?(?:dit|demand))|^je (?:vais|suis)\b|^continue\b|^vas-y\b|^r[eé]essaie\b
   |^merci\b|^je viens de\b|^c'est fait\b
de opener  bitte|ok(?:ay)?|hm+|äh+|oh|naja|na ja|also|warte|hey|hallo|sorry|entschuldigung|aber|und|schau|ja|nochmal
   |ehrlich|eigentlich|vielleicht|ich (?:glaube|denke|meine)|generell|grundsätzlich
de no  nein|nee|ne(?=,)
de deny  ^nein\b|^nee\b|^ne,|^falsch\b|^stopp?\b|^halt\b|^nicht (?:so|das|was)\b|\bdas (?:ist
   |war) (?:immer noch |noch immer |einfach )?(?:falsch|nicht (?:richtig
   |das|was|so))|\bich (?:habe|hatte
   |hab) (?:doch |schon |dir )*gesagt\b|\bich sagte\b|\bich (?:habe|hab
   |hatte) (?:dich |dir )?(?:nicht|nie|kein\w*) (?:gesagt|gebeten
   |verlangt|darum)|\bdarum (?:habe|hatte) ich nicht\b|\bich will (?:das )?(?:nicht|kein)|\bwarum (?:hast|machst
   |nimmst) du\b|\bdu hast .{0,40}(?:vergessen|übersehen|ignoriert|kaputt)|\bwie oft\b|\b(?:immer noch|weiterhin
   |noch immer) (?:kaputt|rot|falsch|nicht|fehl\w+|der gleiche|derselbe)
   |\bzu (?:langsam|teuer|riskant|gefährlich)\b
de forbid  ^(?:\w+ ){0,4}(?:nicht|nie|niemals|kein\w*|nichts)\b(?! (?:schlecht|schlimm|nötig|so schlimm
   |mehr da)).{0,80}$|^(?:hör|hört) auf\b|^lass\b.{1,60}|^keine?n?\b|^nie\b|^niemals\b|^finger weg|^verzichte\b
   |^vermeide\b|^ohne (?:zu )?\w+|\bdu (?:sollst|darfst|sollest|solltest|kannst) (?:\w+ ){0,4}?(?:nicht|nie|kein\w*)\b
   |\bwir (?:\w+ ){1,4}?(?:nicht|nie|kein\w*)\b|\bohne (?:zu fragen|rückfrage|nachzufragen|meine)\b
   |^(?:das ist )?zu (?:langsam|teuer|riskant|gefährlich)
de always  (?<!noch )\bimmer\b(?! noch)|\bnie(?:mals)?\b|\bwir (?:nehmen|benutzen|verwenden|nutzen
   |schreiben) |^achte darauf\b|^stell sicher\b
de standing  \bab (?:jetzt|sofort|nun)\b|\bkünftig\b|\bin zukunft\b|\bzukünftig\b|\bnächstes mal\b|\bdas nächste mal\b
   |\bjedes mal\b|\bjedesmal\b|\bgrundsätzlich\b|\bin der regel\b|^denk (?:daran|dran)\b|^merk dir\b|^vergiss nicht\b
   |^achte darauf\b|^stell sicher\b|\bich (?:bevorzuge|möchte lieber|hätte lieber|will lieber)\b|\bwir (?:nehmen
   |benutzen|verwenden|nutzen|schreiben|machen) (?:hier )?|\bin diesem (?:repo\w*|projekt)\b|\bbei uns\b
   |\bunsere (?:regel|konvention)\b
de order  \b(?:du (?:sollst|solltest|musst|hättest)|man (?:muss|sollte)|wir (?:müssen|sollten)|muss|müssen|soll|sollte
   |sollten|gehört|gehören)\b|\bstattdessen\b|\bstatt\b|\banstatt\b|\blieber\b|\bbesser\b|^(?:nur )?(?:nimm|benutze?
   |verwende|nutze|führ\w*|starte?|schreib\w*|behalte?|leg\w*|setz\w*|nenn\w*|folge?|frag\w*|lies|warte|mach\w*|teste?
   |prüfe?|formatiere?|lass .{1,40}laufen|ruf\w*)\b|\b(?:zuerst|erst|vorher)\b
de ought  \b(?:du (?:sollst|solltest|musst|hättest)|wir sollten (?:hier |immer )?\w+)\b|\bich (?:habe|hatte
   |hab) (?:dir |doch |schon )*gesagt,? (?:du|dass|wir)\b
de own  ^mein\w* (?:[\w-]+ ){1,3}(?:ist|heißt|lautet) [\w@./:-]+[.!]?$
de contrast  ^nicht .{2,80}?,? sondern\b|.{2,80}, nicht (?:der |die |das |den |dem |ein\w* |im |in |auf |nur )?\w+
   |\bstatt\b|\banstelle\b
de fact  \bmein\w* (?:\w+ ){1,3}(?:ist|heißt|lautet) \S+$
   |^(?:der |die |das |unser\w* )?[\w`'/.-]+(?: [\w`'/.-]+){0,3} (?:ist
   |sind|liegt|liegen|steht|heißt|gehört|kommt|braucht
   |benutzt)(?: \w+){0,3} (?:in|im|auf|unter|ein\w*|der|die|das|zu|aus|ander\w*|ausgecheckt|offen)\b.*
de hint  ^(?:können|könnten|sollten|sollen|dürfen) (?:wir|es|das)\b|^(?:gibt es|haben wir|hatten wir|ist das|sind das
   |wäre es|brauchen wir) (?:\w+ ){0,3}?(?:nicht|kein\w*|wirklich|eine möglichkeit|denn)\b|^(?:warum|wieso) (?:nicht
   |nimmst|machst|nehmen)\b|^wie wäre\b|\b(?:oder|nicht wahr)\?$
de broken  \A(?:(?:der|die|das|die|alle) )?(?:\S+ ){0,2}?(?:lint\w*|tests?|ci|build|bau|format\w*|integration\w*
   |pipeline|typprüfung|mise run \S+|make \S+|npm \S+|pytest)\b.{0,30}\b(?:schlägt\w*|schlagen|fehl\w*|kaputt|rot
   |(?:läuft|laufen|geht|gehen|baut|kompiliert) (?:\w+ )?nicht|bricht|fehler)\b
de once  \bfürs erste\b|\bvorerst\b|\bdiesmal\b|\bdieses mal\b|\bheute\b|\bim moment\b|\bgerade\b|\bnoch nicht\b
   |\bspäter\b|\berst ?mal\b
de report  ^ich (?:habe?|bin|werde|war)\b(?! (?:doch |schon |dir |dich )*(?:nicht |nie |kein)?\w*\s?(?:gesagt|gebeten))
   |^weiter\b|^mach weiter\b|^versuch\w* (?:es )?(?:nochmal|noch)|^danke\b|^schon (?:gut|erledigt)\b|^fertig\b
pt opener  por favor|ok(?:ay)?|hum+|eh+|ah|oh|bom|espera|ei|ol[aá]|desculpa|mas|e|ent[aã]o|olha|sim|tamb[eé]m|de novo
   |acho que|na verdade|em geral|talvez|s[eé]rio
pt no  n[aã]o(?=,)
pt deny  ^n[aã]o,|^n[aã]o$|^errado\b|^para\b(?! (?:que|o|a|os|as|um|isso)\b)|^pare\b|\b(?:isso|isto
   |assim) (?:n[aã]o (?:é|era|est[aá])|est[aá] errado)|\beu (?:j[aá] )?(?:disse|falei|pedi)\b|\bj[aá] (?:te )?(?:disse
   |falei)\b|\bn[aã]o (?:te )?pedi\b|\bn[aã]o quero\b|\bpor ?que (?:voc[eê]|n[aã]o|tu|est[aá]s?)\b
   |\bvoc[eê] (?:esqueceu|ignorou|pulou|quebrou)\b|\bquantas vezes\b|\b(?:ainda|continua) (?:falhando|quebrad\w+
   |errad\w+|sem|n[aã]o|a falhar|igual)
   |\b(?:muito|demasiado) (?:lent|car|arriscad)[oa]s?\b
pt forbid  ^n[aã]o (?!sei\b|h[aá]\b|tem\b|é\b|est[aá]\b|se preocupe|importa|funciona\b|compila\b|passa\w*\b|entendi\b
   |vejo\b)(?:me |te |o |a |se )?\w{3,}|^nunca \w+|^jamais \w+|^evite? \w+|^par[ae] de \w+|^deixe? de \w+|^nada de \w+
   |^sem \w+|^chega de\b|^proibido\b|\bn[aã]o (?:deve|deves|pode|podes|devemos|usamos|fazemos|queremos|quero que)\b
   |\bsem (?:perguntar|pedir|permiss[aã]o|avisar)\b|^(?:muito|demasiado) (?:lento|caro|arriscado)|\be n[aã]o (?:fa[cç]a
   |toque|use|rode|mude|crie|apague)\b
pt always  \bsempre\b|\bnunca\b|\bjamais\b|\busamos\b|^certifique-se\b
pt standing  \b(?:a partir de|de) agora\b|\bdaqui (?:em|para a) frente\b|\bno futuro\b|\b(?:da|na) pr[oó]xima vez\b
   |\b(?:cada|toda) vez que\b|\bvia de regra\b|^lembre-se\b|^lembra-te\b|^certifique-se\b|\bprefiro\b|\baqui (?:usamos
   |a gente usa|n[aã]o)\b|\bneste (?:repo\w*|projeto)\b|\busamos\b|\bnossa (?:conven[cç][aã]o|regra)\b
pt order  \b(?:deve|deves|deveria|devias|tem que|tens que|precisa|precisas|era para|é preciso|devemos)\b|\bem vez de\b
   |\bao inv[eé]s\b|\bno lugar de\b|\bmelhor \w+|^(?:s[oó] |apenas )?(?:use|usa|rode|roda|execute|executa|escreva
   |mantenha|coloque|siga|pergunte|leia|espere|fa[cç]a|crie|verifique|formate|teste)\b|\bprimeiro\b|\bantes de \w+r\b
pt ought  \b(?:voc[eê] (?:deve|deveria|tem que|precisa)|dev(?:es|ias)|tens que|dever[ií]amos (?:usar|estar))\b
   |\beu (?:j[aá] )?(?:disse|pedi) para\b
pt own  ^(?:o )?meu (?:[\w-]+ ){1,3}é [\w@./:-]+[.!]?$
pt contrast  ^n[aã]o .{2,80}?,? (?:mas|e) sim\b|.{2,80}, n[aã]o (?:o |a |os |as |um |uma |em |no |na |s[oó] )?\w+
   |\bem vez de\b|\bao inv[eé]s de\b
pt fact  \bmeu (?:\w+ ){1,3}é \S+$|^(?:o |a |os |as |noss[oa]s? )?[\w`'/.-]+(?: [\w`'/.-]+){0,3} (?:est[aá]o?|fica|vai
   |usa|precisa|é|s[aã]o|se chama)(?: \w+){0,3} (?:em|no|na|um|uma|o|a|com|sob|outr[oa]|abert[oa])\b.*
pt hint  ^(?:podemos|poder[ií]amos|d[aá] para|n[aã]o d[aá]|dever[ií]amos|n[aã]o dever[ií]amos|n[aã]o podemos
   |n[aã]o h[aá]|n[aã]o t[ií]nhamos|n[aã]o seria|ser[aá] que|precisamos mesmo|por ?que n[aã]o|h[aá] (?:como|alguma)
   |e se)\b
pt broken  \A(?:(?:o|a|os|as) )?(?:\S+ ){0,2}?(?:lint\w*|testes?|ci|build|compila[cç][aã]o|format\w*|integra[cç][aã]o
   |pipeline|mise run \S+|make \S+|npm \S+|pytest)\b.{0,30}\b(?:falh\w+|quebr\w+|vermelh\w+|n[aã]o (?:passa\w*
   |funciona\w*|compila\w*)|erros?)\b
pt once  \bpor enquanto\b|\bdesta vez\b|\bhoje\b|\bpor agora\b|\bdepois\b|\bainda$
pt report  ^(?:eu )?(?:j[aá] )?(?:fiz|rodei|corrigi|atualizei|estava|vou|estou)\b|^continu[ea]\b|^segue\b
   |^tent[ea] de novo\b|^obrigad[oa]\b|^acabei de\b|^pronto\b
it opener  per favore|per piacere|ok(?:ay)?|ehm+|oh|ah|beh|aspetta|ehi|ciao|scusa|ma|e|allora|quindi|anche|senti|guarda
   |s[iì]|di nuovo|penso che|credo che|in realt[aà]|in generale|forse
it no  no(?=,)|no(?= non\b)
it deny  ^no\b|^sbagliato\b|^fermo\b|^fermati\b|^basta\b(?! che)|^non (?:quello|cos[iì]|è quello)\b|\b(?:questo|quello
   |cos[iì]|è)(?: (?:è|era))? (?:sbagliat[oa]|ancora sbagliat[oa]|non (?:va|è))|\bho (?:gi[aà] )?(?:detto|chiesto)\b
   |\bti (?:ho|avevo) (?:detto|chiesto)\b|\bnon (?:ti )?ho (?:chiesto|detto)\b|\bnon voglio\b|\bperch[eé] (?:hai
   |non hai|stai)\b|\bhai (?:dimenticato|ignorato|saltato|rotto)\b|\bquante volte\b|\bancora (?:rott\w+|fallis\w+
   |sbagliat\w+|ross\w+|non)
   |\btroppo (?:lent|costos|rischios)\w*\b
it forbid  ^non (?!so\b|c'è|importa|è\b|preoccuparti|funziona\b|compila\b|passa\w*\b|vedo\b|ho\b
   |capisco\b)(?:me |lo |la |li |le |ci |ti )?\w{3,}|^mai \w+|^evita \w+|^smetti(?:la)? di \w+
   |^niente \w+|^basta (?:con )?\w+|^senza \w+
   |^nessun\w* \w+|^vietato\b|^lascia\b.{1,40}\b(?:stare|com'è|in pace)|\bnon (?:devi|puoi|dovresti|si deve|vogliamo
   |usiamo|facciamo|voglio che)\b|\bsenza (?:chiedere|permesso|avvisare)\b|^troppo (?:lento|costoso|rischioso)
   |\be non (?:fare|toccare|usare|eseguire|cambiare|creare|cancellare)\b
it always  \bsempre\b(?! (?:lo stesso|rott|sbagliat))|\bmai\b|\busiamo\b|^assicurati\b
it standing  \bd'ora in poi\b|\bda ora in poi\b|\bin futuro\b|\bla prossima volta\b|\bogni volta che\b|\bdi regola\b
   |^ricorda(?:ti)?\b|^assicurati\b|\btieni presente\b|\bpreferisco\b|\bqui (?:usiamo|si usa|non)\b
   |\bin questo (?:repo\w*|progetto)\b|\busiamo\b|\bla nostra (?:convenzione|regola)\b
it order  \b(?:devi|dovresti|dovevi|bisogna|bisognava|va|vanno|deve|dovrebbe|dobbiamo)\b(?= \w+)|\binvece\b
   |\bpiuttosto\b|\bal posto di\b|\bmeglio \w+|^(?:solo )?(?:usa|esegui|lancia|scrivi|tieni|metti|segui|chiedi|leggi
   |aspetta|fai|crea|controlla|verifica|formatta|testa)\b|\bprima\b(?! (?:volta|riga))
it ought  \b(?:devi|dovresti|avresti dovuto|dovremmo (?:usare|sempre))\b|\b(?:ti )?ho (?:gi[aà] )?(?:detto
   |chiesto) di\b
it own  ^(?:il )?mio (?:[\w-]+ ){1,3}è [\w@./:-]+[.!]?$
it contrast  ^non .{2,80}?,? (?:ma|bens[iì])\b|.{2,80}, non (?:il |la |lo |i |le |un |una |in |su |solo )?\w+
   |\binvece di\b|\bal posto di\b
it fact  \b(?:il )?mio (?:\w+ ){1,3}è \S+$|^(?:il |la |lo |i |le |l'|nostr[oa] )?[\w`'/.-]+(?: [\w`'/.-]+){0,3} (?:è
   |sono|sta|va|vanno|usa|si chiama|si trova)(?: \w+){0,3} (?:in|nel|nella|su|un|una|il|la|con|sotto|altro|altra
   |aperto)\b.*
it hint  ^(?:possiamo|potremmo|dovremmo|non dovremmo|non possiamo|non potremmo|non c'è|non avevamo|non sarebbe
   |serve davvero|perch[eé] non|c'è (?:modo|un modo|un motivo)|e se)\b
it broken  \A(?:(?:il|la|i|le|lo|gli) )?(?:\S+ ){0,2}?(?:lint\w*|test|ci|build|compilazione|format\w*|integrazione
   |pipeline|mise run \S+|make \S+|npm \S+|pytest)\b.{0,30}\b(?:fallis\w+|fallit\w+|rott[oaie]|ross[oaie]
   |non (?:passa\w*|funziona\w*|compila\w*)|error[ei])\b
it once  \bper ora\b|\bquesta volta\b|\boggi\b|\bal momento\b|\bpi[uù] tardi\b|\bdopo\b$|\bancora$
it report  ^(?:l'|lo )?ho (?!detto|chiesto|gi[aà] detto)|^sto\b|^sono\b|^continua\b|^vai avanti\b|^riprova\b|^grazie\b
   |^fatto\b|^ero\b
zh opener  请|麻烦|好的?|嗯|啊|哦|等等|等一下|喂|抱歉|不好意思|但是?|而且|所以|另外|还有|那|其实|拜托|我觉得|我认为
zh no  不对|不是(?=[，,])|不(?=[，,])|错了
zh deny  ^不对|^不是(?!吗|很)|^不[，,。!！]|^错了?|^停|(?:这|那|还是)(?:不对|错了?|不是我)|我(?:已经)?(?:说过|说了
   |说的是|讲过)|我没(?:有)?(?:让|叫|要|说)|我不(?:想要|要|是要)|(?:为什么|干嘛)(?:你)?(?:要|不|又|把|去)|你(?:又|忘了?
   |忽略|漏了?|弄坏)|多少次|又来了|还是(?:不行|失败|报错|坏的|错的?|一样|不对)|仍然(?:失败|报错|不行)
   |太(?:慢|贵|危险)
zh forbid  ^(?:千万|绝对|以后|再)?(?:不要|别|勿|禁止|不准|不许|不可以?|不能|不得|切勿|严禁|无需|不用)
   |[，,；;](?:也)?(?:不要|别|禁止|不准|不许)|你不(?:应该|能|可以|该)|我们不(?:用|要|会|写|做|提交)|我不(?:想|希望
   |要)你|未经(?:我)?(?:同意|允许|许可)|没有?(?:我的)?(?:允许|同意)|(?:太|也太)(?:慢|贵|危险)
zh always  总是|始终|永远|从不|绝不|务必|确保|一律|我们(?:这里|这边|一直|都|只)?(?:用|使用|采用)
zh standing  从现在(?:起|开始)|今后|以后(?:都|请|不|要|每)|下次|每次|每当|记住|记得|请注意|务必|确保|我(?:更)?(?:喜欢
   |希望|倾向)|我们(?:这里|这边|一直|都|只)?(?:用|使用|采用)|(?:这个|本)(?:仓库|项目|代码库)|我们的(?:规范|约定|规则)
   |一律|默认
zh order  应该|应当|必须|需要先|得先|要先|先.{1,20}(?:再|然后)|改用|改成|请用|请使用|^(?:只|直接)?(?:用|使用|运行|跑
   |执行|写|放|保留|遵循|问|读|检查|格式化|测试|新建|创建)|而不是|代替|最好|优先
zh ought  你(?:应该|应当|必须|得)|我们(?:应该|必须)(?:用|使用)|我(?:已经)?(?:说过?|让你)(?:不要|要|别|用)
zh own  ^我的.{1,16}(?:是|叫)\s?[\w@./:-]+[。]?$
zh contrast  不是.{1,40}(?:而)?是|而不是|.{1,40}[，,]不是.{1,40}|别用.{1,30}用
zh fact  我的.{1,20}(?:是|叫).{1,40}$|^.{1,30}(?:在|位于|放在|属于|叫做).{1,60}(?:里|下|中|上|分支|目录|工作树
   |仓库).{0,20}$
zh hint  (?:能不能|可不可以|可以不可以|可否|能否|是不是(?:应该|可以)|要不要|不(?:能|是|应该|可以).{1,60}吗|难道
   |没有.{1,40}吗|为什么不|为何不|有没有办法|真的(?:需要|有必要)|何不).{0,80}
zh broken  (?:测试|检查|构建|编译|格式|类型|集成|流水线|lint\w*|ci|CI|build|make \S+|npm \S+|pytest).{0,15}(?:失败|没过
   |不通过|没通过|挂了|红了|报错|出错|坏了|过不了)
zh once  暂时|这次|目前|现在先|今天|稍后|待会|等会
zh report  ^我(?:已经|刚|刚才|在|来|去|会)(?!说)|^继续|^再试|^谢谢|^好了|^完成
ja opener  すみません|ごめん|ええと|あの|うーん|はい|でも|それと|それから|あと|ちょっと|お願い|やはり|やっぱり|実は
   |いや、?
ja no  いいえ|いや|違う(?=[、。，])|違います
ja deny  ^いいえ|^いや|^違(?:う|い)|^ちがう|^だめ|^ダメ|^止め|^やめ|^ストップ|(?:それ|これ|まだ)(?:は|が|も)?(?:違|間違
   |正しくな|そうじゃ)|(?:と|って)(?:言|い)(?:った|いました|いまし|ってる)|(?:頼|たの)んで(?:い)?(?:ない|ません)|(?:言
   |い)って(?:い)?(?:ない|ません)|(?:なぜ|なんで|どうして).{0,20}(?:した|しない|しなかった|消した|変えた|使わない)(?:の
   |ん|？)|忘れて(?:い|る)|無視し|何(?:度|回)|(?:まだ|相変わらず|依然).{0,10}(?:壊れ|失敗|落ち|エラー|だめ|ダメ|直って
   |動か|同じ)
   |(?:遅|高|危険)すぎ
ja forbid  (?:し|ら|わ|か|さ|た|ま|な|ば|べ|え|け|せ|て|め|れ|げ)?ないで(?:ください|下さい|ね|。|$|、)|(?:する|した
   |使う|触る|書く|消す|変える|作る|るの|くの|すの)?(?:のは|のを)?(?:やめて|止めて|禁止|だめ|ダメ|控えて)|(?:て
   |で)はいけ(?:ない|ません)|(?:て|で)はなら(?:ない|ません)|(?:す|る|く|う|む)な(?:よ|。|！|$)|(?:勝手|無断)に|許可なく
   |確認なしに|(?:は)?使(?:わない|いません)|(?:遅|高|危険)すぎ
ja always  常に|いつも(?!の)|必ず|絶対|決して|二度と
ja standing  今後|これから(?:は|も)|次回|次から|毎回|(?:する|の)たび|原則|覚えて(?:おいて|ください)|忘れずに|忘れないで
   |(?:の)?方が(?:いい|好き|よい)|ここでは|この(?:リポジトリ|プロジェクト|コード)では|私たちは|うちでは|ルール(?:は
   |では|として)|(?:を|は)?優先
ja order  べき|(?:し|ら|わ|か|さ|た|ま|な|ば|べ|え|け|せ|て|め|れ|げ)?なければ|必要があ|代わりに|かわりに|ではなく
   |じゃなくて|先に|まず|(?:だけ|のみ)(?:を)?(?:使|実行|直|変)|(?:を|で|に|から)(?:使って|実行して|走らせて|書いて
   |置いて|確認して|読んで|聞いて|作って|直して|戻して|揃えて|従って)(?:ください|下さい|。|$|ね)|(?:に|へ)(?:して
   |変えて)(?:ください|下さい|。|$)|ほしい|欲しい
ja ought  (?:使う|する|書く|実行する)べき|(?:し|ら|わ|か|さ|た|ま|な|ば|べ|え|け|せ|て|め|れ|げ)なければ(?:なら|いけ)
   |すべき|(?:て|で)と(?:言|い)(?:った|いました)
ja own  ^(?:私|僕|俺)の.{1,16}は\s?[\w@./:-]+(?:です|だ)?[。]?$
ja contrast  ではなく|じゃなく|でなく|(?:より)も.{1,30}(?:を|で|が)
ja fact  (?:私|僕|俺)の.{1,20}は.{1,40}(?:です|だ)?[。]?$|^.{1,30}(?:は|が).{1,50}(?:にあ(?:る|ります)|です
   |という(?:名前|ブランチ)|で開いて|チェックアウト(?:されて|して)).{0,20}$
ja hint  (?:でき|られ|れ)(?:ない|ません)(?:か|の|かな)|(?:すべき|した方が|ほうが).{0,20}(?:では|じゃ|か|？)|(?:ではない
   |じゃない)(?:です|の)?か|(?:方法|理由)は(?:ない|ありません|あります)|(?:本当|ほんとう)に(?:必要|要)
   |なぜ.{1,20}(?:使わ|し)ない|(?:どう|いかが)(?:ですか|でしょう)|なかった(?:っけ|です)
ja broken  (?:テスト|リント|lint\w*|ビルド|コンパイル|型|CI|ci|フォーマット|統合|パイプライン|make \S+|npm \S+
   |pytest).{0,15}(?:失敗|落ち|通ら|通って(?:い)?な|赤|エラー|壊れ|こけ)
ja once  とりあえず|今回(?:は|だけ)|今は|今日|後で|あとで|一旦|いったん
ja report  ^(?:私|僕|俺)(?:が|は)(?:やり|し|直し|実行)|^続け|^もう一度(?:試|やって)|^ありがと|(?:しておき
   |やっておき)ました|^終わり
"""


def _patterns() -> dict[str, dict[str, str]]:
    """The table by language and by what is told; a line that is indented goes on with the one above."""
    found: dict[str, dict[str, str]] = {}
    for entry in TABLE.replace("\n   ", "").strip().split("\n"):
        language, name, alternatives = entry.split(maxsplit=2)
        found.setdefault(language, {})[name] = alternatives
    return found


PATTERNS = _patterns()
"""Language -> what is told -> alternatives of a regular expression."""
