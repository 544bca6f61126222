import { pattern } from './word-patterns.ts'

/** Words for problems in a test run, for patterns such as "no failures". */
const noFault =
  'fail\\w*|errors?|errored|red|problems?|complain\\w*|issues?|regress\\w*|break\\w*|broken?|object\\w*|hitch|hitches|trouble|incidents?|deviations?|surprises?|hiccups?|findings?|differences|bad|down|suspicious|odd|affected|unexpected|wrong|unusual|amiss|warnings?|anomal\\w*|oddit\\w*|moan\\w*|grumbl\\w*|nasty|quirks?|drama|casualt\\w*|fallout|side[- ]effects?|damage|crash\\w*|flak\\w*|exceptions?|discrepanc\\w*|untoward|concerns?|glitch\\w*|defects?|faults?|time-?outs?|hang\\w*|stumbl\\w*|fuss|pain|sweat|scratch|murmur|peep|blemish|squeak|wobble|whimper|flinch|snag|exits?'
const sees = 'report|reported|observed|worth mentioning|to (?:report|complain|say|see|worry)'
const numbers = '(?:[1-9]\\d*|two|three|four|five|six|seven|eight|nine|ten|a few|several|some|one|a couple)'

/** Idioms, each with the mark that replaces it. They are replaced in this order. */
export const idioms: readonly (readonly [RegExp, string])[] = [
  // "I didn't commit until the tests came back clean" means that they came back clean.
  [
    pattern(
      String.raw`\b(?:did not|didn't|only|not|waited|kept (?:at it|going|on|\w+ing)|went on|iterated|repeated|stopped|committed|merged|finished|done|took)\b[^,.;:]*? (?:until|till|after|once|when) (?=[^,.;:]*\b(?:passed|came (?:back|out|up)|(?:was|were|went|turned|had gone|had come|had turned|had been|got) (?:all |fully |back to )?(?:green|clean|ok|fine|through|back|successful|good)|succeeded|had (?:all )?(?:passed|succeeded))\b)`,
      'g',
    ),
    '',
  ],
  // Phrases about problems that existed in the past, but no longer exist.
  [
    pattern(
      String.raw`\b(?:which|that|who) (?:(?:was|were|had|used to|previously|have been|had been|once) )?(?:been )?(?:fail\w*|broke|broken|red|hung|crash\w*)\b(?: (?:when|before|at) [^,.;]*)?`,
      'g',
    ),
    '',
  ],
  [
    pattern(
      String.raw`\b(?:previously|formerly|initially|originally|once|earlier)[- ](?:\w+[- ]){0,3}?(?:fail\w*|broken|red|flaky|erroring|crashing|hanging)\b`,
      'g',
    ),
    '',
  ],
  [
    pattern(
      String.raw`\b(?:fail\w*|hangs?|hung|red|crash\w*|errors?) (?:(?:just )?(?:without|before)|when reverted|if reverted|on the old)\b[^,.;]*`,
      'g',
    ),
    '',
  ],
  [pattern(String.raw`\b(?:hangs?|hung|fails?|failed) \w+ without\b[^,;.]*`, 'g'), ''],
  [
    pattern(
      String.raw`(?:\b(?:at first|initially|originally|previously)\b|^before\b(?![^.;]*\bi (?:\w+ )?(?:ran|re-?ran|executed|checked|verified)\b))[^.;]*?\b(?:fail\w*|errors?|red|broken|rejected)\b[^.;]*`,
      'g',
    ),
    '',
  ],
  [
    pattern(
      String.raw`\b(?:fail\w*|red|broke|broken) (?:at first|initially|originally|previously|earlier|before|then)\b[^.;]*`,
      'g',
    ),
    '',
  ],
  [pattern(String.raw`\bused to (?:fail|break|crash|hang|error)\b`, 'g'), ''],
  [
    pattern(
      String.raw`(?<!\b(?:with|got|gave|by|had|in|to|for|was|is|shows|of|made|see|after) )\ban? (?:passing|green|successful|clean) (?:test|run|build|suite)s?\b`,
      'g',
    ),
    '',
  ],
  [
    pattern(
      String.raw`\bnothing (?:else )?(?:was|has been|is|got) (?:tested|run|executed|verified)\b|\b(?:ran|run|executed|tested|started) nothing\b`,
      'g',
    ),
    ' +bad+ ',
  ],
  // Statements about errors that the code raises or reports. They say nothing about a test run.
  [
    pattern(
      String.raw`\bno (?:\w+ )?(?:errors?|exceptions?|warnings?) (?:is|are|gets?) (?:\w+ )?(?:thrown|raised|logged|returned|shown|displayed|emitted|reported)\b`,
      'g',
    ),
    '',
  ],
  // Phrases that say that nothing is wrong, and phrases in which a word such as "without" says nothing about a result.
  [
    pattern(
      `\\b(?:no|zero|0|without(?: an?y?)?(?: single| more)?|not (?:a|one|any)(?: single)?|none of (?:the|them|these)(?: \\w+)?|no[- ]one|never|none)(?: (?!and|but|because|for|were|was|could|couldn't|when)[\\w'-]+){0,3}? (?:${noFault})\\b`,
      'g',
    ),
    ' +good+ ',
  ],
  [
    pattern(
      `\\bnothing(?: else)?(?: (?:in|of|about|from) (?:[\\w-]+ ){0,3}[\\w-]+)?(?: (?:was|is|got|went|came up|turned out))? (?:${noFault})\\b`,
      'g',
    ),
    ' +good+ ',
  ],
  [
    pattern(
      `\\b(?:fail\\w*|errors?|failures?|broken|red|problems?|issues|deviations|regressions|surprises)(?: were| was| have been)?[ :=]+(?:0|none|zero|no|not (?:observed|found|seen))\\b`,
      'g',
    ),
    ' +good+ ',
  ],
  [pattern(`\\b(?:nothing|no\\w*)(?: \\w+){0,2} (?:${sees})\\b`, 'g'), ' +good+ '],
  [
    pattern(
      String.raw`\b(?:didn't|did not|doesn't|does not|don't|couldn't|could not) (?:find|have|see|report|show|turn up|reveal|produce|raise|yield|uncover|bring up|spot|break|get|mind|notice)(?: (?:any\w*|a (?:single )?thing|a single \w+|the (?:change|difference)|me anything))\b`,
      'g',
    ),
    ' +good+ ',
  ],
  [
    pattern(
      String.raw`\bwithout (?:modif\w+|(?:being |be )?(?:chang\w+|touch\w+|edit\w+)|adapt\w+|adjust\w+|(?:any )?further \w+)(?: (?:them|it|any of them))?`,
      'g',
    ),
    '',
  ],
  [pattern(String.raw`\bwith (?:no|zero|0) (?:[\w-]+ ){0,3}?[\w-]+(?=$|[,.;)]| in | from )`, 'g'), ''],
  [pattern(String.raw`\bwithout (?:a single|any|so much as an?) \w+`, 'g'), ' +good+ '],
  [
    pattern(String.raw`\bnot (?:a single |even )?one(?: \w+){0,3} (?:broke|failed|complained|objected)`, 'g'),
    ' +good+ ',
  ],
  [
    pattern(
      String.raw`\b(?:no longer|don't|doesn't|didn't|do not|does not|did not|never|not|stopped|any ?more)(?: \w+)? (?:fail\w*|break\w*|broke|regress\w*|report(?:s|ing)? (?:anything|any\w*)|complain\w*|object\w*)(?: any(?: ?more| longer| existing)?)?`,
      'g',
    ),
    ' +good+ ',
  ],
  [pattern(String.raw`\b(?:doesn't|don't|does not|do not) any ?more\b`, 'g'), ' +good+ '],
  [pattern(String.raw`\b(?:is|are) (?:history|gone|sorted)\b`, 'g'), ''],
  [
    pattern(
      String.raw`\b(?:exits?|exited|exit code|exit status|status|code|returned|returns|rc)(?: (?:code|status|with|of|was|is|the|test|run))*[ :=]*0\b`,
      'g',
    ),
    ' +good+ ',
  ],
  [pattern(String.raw`\b(\d+) ?(?:/|of|out of) ?(?:the )?\1\b`, 'g'), ' +good+ '],
  [
    pattern(String.raw`^(?:now|after\w*|since|meanwhile|current\w*) ?: ?(?:none|zero|0|all|nothing)\b`, 'g'),
    ' +good+ ',
  ],
  [/\b100 ?%/g, ' +good+ '],
  [
    pattern(
      String.raw`\b(?:all|every\w*) (?:\w+ ){0,3}?(?:do|does|did) (?:exactly )?what (?:they|it) (?:should|ought to|did before)\b`,
      'g',
    ),
    ' +good+ ',
  ],
  // A good result that is repeated: "I made sure that nothing broke, and it didn't."
  [pattern(String.raw`\+good\+ *,? and (?:it|nothing) (?:didn't|did not)\b`, 'g'), ', +good+ '],
  [pattern(String.raw`\b(?:not|never) (?:unexpected|unhappy|bad)\b`, 'g'), ' +good+ '],
  // Phrases about test files, not about results.
  [
    pattern(
      String.raw`\b(?:tests?|specs?)(?: files?)?(?: themselves)? (?:are|is|were|was|stay\w*|remain\w*) (?:unchanged|untouched|unmodified)\b`,
      'g',
    ),
    '',
  ],
  // A phrase such as "the failing test" usually means a test that failed before the change.
  [
    pattern(
      String.raw`(?<!\d )(?<!still |are |is |be |one |two |keeps? )\b(?:failing|broken|flaky|red) (?=(?:\w+ ){0,2}(?:tests?|specs?|cases?|builds?|ci|jobs?|suites?|assertions?)\b)`,
      'g',
    ),
    '',
  ],
  // "Like" counts as a word for a good result ("the tests like it"), but not in phrases such as "it looks like this".
  [pattern(String.raw`\blike (?:this|so|these|that)\b`, 'g'), ''],
  // Text in brackets after the cases that the tests cover: "the specs cover each path (missing file, denied access)".
  [
    pattern(
      String.raw`(?<=\bcover(?:s|ed|ing)? [^.;()]{0,80}) ?\((?![^()]*\b(?:fail\w*|red|not|skip\w*|\w+n't|still|which|run|ran)\b)[^()]{1,160}\)`,
      'g',
    ),
    '',
  ],
  // A case in a list of what the tests cover: "the specs cover the conflict and the timeout, and they pass".
  [
    pattern(
      String.raw`(?<=\bcover(?:s|ed|ing)? [^.;]{0,120})\b(?:the|an?|both|each|every) (?:[\w-]+ )?(?:time-?outs?|errors?|failures?|crash|crashes|hang)(?: (?:paths?|cases?|branch(?:es)?|conditions?|codes?|messages?))?(?=[,;.)]| and\b|$)`,
      'g',
    ),
    '',
  ],
  // Phrases that say that something is wrong.
  [
    pattern(
      String.raw`\b(?:exits?|exited|exit code|exit status)(?: (?:code|status|with|of|was|is))*[ :=]*[1-9]\d*\b`,
      'g',
    ),
    ' +bad+ ',
  ],
  [pattern(String.raw`\b(\d+) ?(?:/|of|out of) ?(?:the )?(?!\1\b)(\d+)\b`, 'g'), ' +bad+ '],
  [pattern(String.raw`(?<!-)\+\d+ -\d+`, 'g'), ' +bad+ '],
  [
    pattern(
      String.raw`\b(?:all|every \w+|everything|most)(?: of the)?(?: \w+)? (?:but|except|save|apart from|minus)\b`,
      'g',
    ),
    ' +bad+ ',
  ],
  [
    pattern(
      `\\b(?:but|except(?: for)?|apart from|save for|aside from|bar|other than|minus) (?:the )?(?:${numbers}|those|these|that|a)\\b`,
      'g',
    ),
    ' +bad+ ',
  ],
  [pattern(String.raw`\bexcept(?:ions?|ing)?\b|\bapart from\b|\bmost of\b|\bmostly\b|\bonly partly\b`, 'g'), ' +bad+ '],
  [pattern(String.raw`\b(?:fail(?:ed|ures?)?|errors?)[ :=]+[1-9]\d*`, 'g'), ' +bad+ '],
  [
    pattern(
      `\\b${numbers}(?: \\w+){0,4}? (?:fail\\w*|errors?|broken|red|regress\\w*|surprises?|complaints?|problems?|hang|crash|time outs?)\\b`,
      'g',
    ),
    ' +bad+ ',
  ],
]
