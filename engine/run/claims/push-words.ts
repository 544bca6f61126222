import { pattern } from './word-patterns.ts'
/** English phrases about pushes, as patterns for plain text in lower case. */

/** Words for the destinations of a push: remotes, hosting services, pull requests, registries. Remotes in the recorded pushes are added by name. */
const places =
  "origin(?:/\\S+)?|(?:the|your|our) remotes?(?! (?:images?|files?|calls?|procedure|desktop|control|hosts?|config\\w*|data|urls?|server|end))|remote (?:repo\\w*|branch|side|history|main|master|updated)|(?:github|gitlab|bitbucket|azure(?: devops)?)(?! (?:actions?|workflows?|pipelines?|ci|cd|runners?|jobs?|steps?|secrets?|issues?|api|apps?|tokens?|clients?|integrations?|logins?|oauth|sso|cli|copilot|discussions?|templates?|badges?|links?|urls?|enterprise|users?|usernames?|teams?|accounts?|providers?|connectors?|webhooks?|importers?|adapters?|avatars?|config\\w*|sign-?in|auth\\w*|flavou?red)\\b)|codeberg|gitea|sourcehut|heroku|upstream|(?:the|your|our|central|git|gitops) (?:server|repository|repo)(?:'s \\w+)?|(?:central|shared|hosted) (?:server|repository|repo)|(?:the|your|this|my|our|a) (?:pr|pull request|merge request|fork)\\b|mirror|(?:test)?pypi(?:\\.org)?|crates\\.io|rubygems(?:\\.org)?|npmjs\\S*|docker ?hub|ghcr\\.io|maven central|hex\\.pm|packagist"

const work =
  '(?:branch(?:es)?|commits?|tags?|work|changes?|fix|hotfix|patch|it|that|this|they|everything|all|result|correction|history|update|version|release|submission|bump|docs|code|pr|both|repo\\w*|revert|merge|backport|feature|migration|state|rest|\\S+/\\S+)'

const request = '(?:pr|pull[- ]request|merge[- ]request|mr)s?'
const ownRequest = `(?<!\\b(?:that|their|upstream|other|his|her|old|previous|earlier|existing|each|every|no|(?:where|how many|whether|which|whose|when|if|once|until|of|because)(?: the| a| an| your)?) )\\b${request}`
/** What may come between the noun and the verb of a statement about a merge request: its number, its title, and a phrase such as "into main". */
const details =
  '(?: [#!]?\\d+)?(?: "[^"]{1,80}")?(?: (?:with|for|from|against|to|into|in|on|titled|called|named|containing|about)(?: (?!is|are|was|not|no|and|or)\\S+){1,8}?)?'

const requesting: readonly string[] = [
  `\\b(?:opened|raised|created|submitted|filed|made|updated|put up|prepared|sent|proposed|registered)\\b(?: (?!text|for\\b|comments?|description|(?:that|which|from|of|in|when|where|by|asked)\\b)\\S+){0,4}? ${request}\\b(?!-|'s|/| (?:templates?|descriptions?|body|text|comments?|titles?|workflows?|checks?|numbers?|labels?|list|page|url|links?)\\b)`,
  `${ownRequest}${details}(?: (?:is|are)|'s)(?: now| also| already| currently)? (?:ready|open|opened|up|live|updated|waiting|awaiting|there|online|out|created|in review|under review|in place|up for review|marked|assigned)\\b`,
  `${ownRequest}${details} (?:has|have) (?:now |also |just |already )?been (?:\\w+ly )?(?:opened|created|raised|filed|submitted|made|put up|updated|merged|sent|marked|assigned)\\b`,
  `${ownRequest}${details} (?:was|were) (?:\\w+ly )?(?:opened|created|raised|submitted|put up)\\b(?! (?:by|in|on|last)\\b)`,
  '\\b(?:opened|created|raised|filed|submitted) (?:it as |this as |it |draft )?(?:!\\d|#\\d\\d* (?:against|into|targeting|towards|from|with \\S+ as (?:the )?(?:base|target)|as a draft)\\b)',
  `\\bmerged (?:#\\d+|!\\d+|(?:the |this )?${request}\\b|it (?:in)?to (?:main|master|trunk|develop))`,
  `${ownRequest}${details} (?:went in|got merged|is merged|(?:is|was) squashed|is squash-merged)\\b(?! (?:by|on|last|in (?:v?\\d|january|may))\\b)`,
  `^(?:draft )?${request}${details} (?:created|opened|raised|submitted|updated|merged)\\b`,
  `\\b${request} (?:that |which )?(?:i|we)(?:'ve| have)? (?:just |also )?(?:opened|created|raised|filed|submitted|put up)\\b`,
  'https?:\\S+/(?:pull|merge_requests|pull-requests)/\\d+',
]

/** Phrases that say that a merge request was opened, updated or merged. */
export const requests: readonly RegExp[] = requesting.map((each) => pattern(each))

/** Words that show that a clause isn't about a repository. They are ignored if the claim may be about a registry. */
export const published = pattern(String.raw`\b(?:(?:the |your |our |\S+ )?registry|to npm|images?|packages?)\b`, 'g')

/** A statement that an image was pushed to a registry. Without an image, "registry" may mean a list in a program. */
export const pushedImage = pattern(
  String.raw`\bpushed (?:it|them|both|(?:the |this |both )?(?:new )?(?:images?|tags?|containers?)) to (?:the|our|your) (?:\w+ )?registry\b(?: (?:as|under|with) \S+)?`,
)

/** Words for what a registry contains. They are replaced by "release", which the patterns contain. */
export const publication = pattern(
  String.raw`\b(?:images?|packages?|wheels?|sdists?|crates?|gems?|charts?|artifacts?|jars?)\b(?![/.])`,
  'g',
)

/** Phrases that say that work is on the remote. `@place` stands for anything that a push can go to. */
const patterns: readonly string[] = [
  // Phrases that say that something was pushed.
  '\\b(?:force-?|re-?)?pushed\\b',
  '\\bdid(?: a| the)?(?: \\w+){0,2} push\\b|\\b(?:did|made|done|with) (?:a |the )?(?:forced?|plain|final|clean|normal|regular)[- ]push\\b',
  '\\bpush(?:es|ing)?(?: \\w+){0,4}? (?:went|succeeded|worked|was (?:successful|accepted|fine)|is (?:done|through|complete)|completed|finished|exited 0|did its job|ok\\b|okay|accepted|got through|landed)',
  '\\b(?:is|are) (?:now |already )?(?:installable|downloadable) (?:from|on|via|through|with) (?:@place)',
  '\\bremote (?:branch|side|main|master|copy) (?:is|was|has been) (?:now )?(?:updated|current|up[- ]to[- ]date|in sync)\\b',
  '\\b(?:by|from|after|with) (?:my|the|this) (?:\\w+ )?push\\b',
  '\\b(?:i|and|then) (?:\\w+ )?(?:ran|executed|did|(?:finished|ended|concluded) (?:by|with)(?: running)?) (?:a |the )?git push\\b',
  '\\bgit push\\b[^,.;]*(?:ok|done|✅|✓|went|succeeded|worked)',
  // Verbs for moving work to the remote.
  '\\b(?:published|uploaded|shipped|delivered|transferred|transmitted|sent|synced|synch?roni[sz]ed|mirrored|backed (?:\\w+ )?up|handed over|landed|submitted|propagated|promoted|moved|put|brought|got|gone|went|reached|released|deployed|overwr(?:ote|itten)|refreshed|updated|made it|arrived|placed|stored|saved|merged|committed)\\b(?: (?!but|by|from|because)\\S+){0,8}? (?:@place)(?![-/]\\w)',
  '\\b(?:published|released)\\b(?: \\S+){0,6}? to npm\\b',
  '\\b(?:published|uploaded|shipped|transferred|synced|mirrored)(?: as| to| straight| the (?:branch|commits?|tags?|release|work)|$)',
  '(?:^|\\b(?:all|the|both|my) )(?:\\w+ )?(?:commits?|branch(?:es)?|tags?|work|repo\\w*|changes)(?: (?:has|have|is|are|was|were))?(?: now| all| also| just)?(?: been)? (?:uploaded|published|transferred|synced|mirrored|online|delivered|shipped|live)\\b',
  "\\b(?:branch(?:es)?|commits?|tags?|pr|release|work|docs branch|everything)(?: (?:is|are|has|have|it's))?(?: now)? (?:up|gone up|went up|online|out)\\b(?! to|-)",
  '\\bwent up\\b',
  '\\bshipped to (?:main|master|prod\\w*|trunk)\\b',
  '\\b(?:in place|landed|merged|available|live) upstream\\b|\\bon (?:main|master|trunk) upstream|in (?:main|master|trunk) upstream',
  '\\b(?!look|check|compar|fetch|pull|(?:re)?bas|reset|restor|align|forward|branch|switch|track|set|start|deriv|replay|clon|seen|connect|point|configur|need|ask|us|follow|refer|relat|nam|call|add|open|diff|reject|refus|fail|tri)\\w+ed\\b (?:(?!but|not|by|from)\\S+ ){0,4}?(?:to|onto|into|with|over to) (?:origin(?:/\\S+)?|the remote|github|gitlab|bitbucket|upstream|the pr)\\b(?![-/]| (?:config\\w*|data|objects?|procedure|desktop|control|hosts?|copy|files?|images?)\\b)',
  // Phrases that say that work is on the remote now.
  `\\b${work}(?:'s|(?: (?!not|but|to |from )\\S+){0,5}? (?:is|are|now|lives?|sits?|sitting|landed|visible|live|up|out|available|there|reached|exists?|also|itself is|found|see|work|all))(?: (?!not|but)\\S+){0,7}? ?(?:on|in|at|with) (?:the \\S+ (?:branch )?(?:of|on|in) )?(?:@place)`,
  "\\bit'?s (?:\\w+ )?(?:on|at|in) (?:@place)",
  "^(?:all|everything|now|and|both|already|it's) (?:on|at|in) (?:@place)(?: (?:already|now|as well|too))?$",
  "^(?:and |so |but )?(?:@place)(?:'s)? (?:now |also |already )?(?:has|contains|carries|got|holds|knows|includes|reflects|is (?:up[- ]to[- ]date|updated|in sync|current|at)|updated|up[- ]to[- ]date|matches|shows)",
  '\\bboth (?:sides|repositories|repos|remotes|mirrors|hosts) (?:are (?!configured|set up|different|private|public|listed|known)|match|agree)',
  '^(?:and |also |now )*(?:up|live|out|online|visible|available) (?:on|at|in) (?:@place)',
  '\\bsee (?:commit|branch) \\S+ on (?:@place)',
  "\\byou(?:'ll| will| can| should)?(?: (?:now|find|see|already))* (?:find|see) (?:(?!would|could)\\S+ ){1,7}(?:on|in|at) (?:\\S+ ){0,4}?(?:@place)(?! rejected)",
  ...requesting,
  '^(?:and |so )?(?:the |your |our )?(?:remote|server|@place)(?: \\w+)? (?:took|accepted|swallowed|received|welcomed) (?:it|them|everything|the (?:push|commits?|branch|change|work))\\b',
  '^(?:and )?(?:the |our |your )?(?:\\w+ )?(?:@place) (?:both|each|all) (?:now )?(?:have|hold|carry|show|contain|are at|point)\\b',
  // Phrases that say that others can get the work from the remote.
  '\\b(?:just|can|could|may) (?:now |already )?(?:git )?(?:pull|fetch)(?: it| this| that| the (?:branch|fix|changes?|commits?)| them)?(?: (?:from|off) (?:@place)| now)?$',
  '\\b(?:can|could|may|only need to|just need to|just have to|just) (?:now |just |simply )*git (?:pull|fetch|checkout|switch)\\b(?! (?:it |this )?after)',
  '^(?:just |now |simply )*(?:a )?git (?:pull|fetch|checkout \\S+|switch \\S+)(?: \\S+){0,4}? (?:gets?|brings?|gives?|to (?:get|have|see|try|pick|receive|review)|picks?|and you|on your|will (?:get|bring|give))\\b',
  '\\bcan (?:now )?(?:fetch|pull) (?:it|them|this|that|the \\w+)(?: \\w+)? from (?:main|master|develop|trunk)\\b',
  '\\brun git (?:pull|fetch)\\b[^,;]*\\bto (?:get|have|see|pick|receive|review)\\b',
  '\\bcan (?:now )?(?:fetch|pull|check out|clone|see|review)\\b[^,;]*(?:from|on|at) (?:@place)',
]

/**
 * The patterns that say that work is on the remote.
 *
 * @param remotes names of the remotes and registries in the recorded commands
 */
export function arrivals(remotes: readonly string[]): readonly RegExp[] {
  const named = [places, ...remotes.map((name) => `\\b${name}\\b(?! (?:image|file))`)].join('|')
  return patterns.map((each) => pattern(each.replaceAll('@place', named), 'u'))
}

/** Matches a line that reports a push as done, such as "Push: done". */
export const reported = pattern(
  String.raw`^(?:(?:git )?push(?:ed|ing)?|remote|upload|publish(?:ed|ing)?|pr|pull request)\s*:\s*(?:done|ok|okay|yes|✅|✓|✔|success\w*|complete\w*|finished|to \S+|origin\S*)|\bcommit(?:ted)?, (?:and )?push(?:ed)?\b|^\S+ : (?:origin|upstream)/\S+|^i did : .*\bpush$|\blocal(?: \w+)? and (?:the )?remote(?: \w+)? (?:are|match|agree)\b|\bpush\b.*\b(?:second|third|next|other|retry|again|then)\b.*\b(?:went through|worked|succeeded|was accepted|got through|did it|was fine)\b`,
)

/** A step in a plan or a task list, such as "push the branch". If the step is ticked, it claims a push. */
export const pushStep = pattern(
  String.raw`^\W*(?:git )?(?:push|publish|upload|open (?:a |the )?(?:pr|pull request|merge request|mr))(?: (?:it|them|(?:the |your )?(?:branch|commits?|tags?|changes)))?(?: to \S+)?$`,
)

/** Phrases about somebody else's work, or about something other than a repository. */
export const otherwise = pattern(
  String.raw`\b(?:pushed onto|pushes|into the (?:queue|stack|array|list|bus|log|channel)|to (?:the (?:queue|stack|array|list|bus|log|channel|end)|a queue)|(?:is|are|gets?|be|being|workflow|job|that|which) (?:\w+ )?(?:published|released) to npm|publish(?:es)? (?:\S+ ){0,4}to npm|aside|queue|stack|notifications?|your (?:last|latest|previous|earlier|own|recent|first|initial) (?:push|commit)|you pushed|you've pushed|you merged|somebody|someone|they|he|she|dependabot opened|by \w+ (?:on|last|in)|yesterday|last (?:week|month|year|night)|(?:on|last|since) (?:mon|tues|wednes|thurs|fri|satur|sun)day|by (?:the|a|your|another) (?:bot|author|maintainers?|team|user|release|ci|workflow)|ago|workflow (?:pushes|publishes|now)|release job|per user|the event|event gets|bus|already contains|registry|for me|what (?:was|is|has been) \w+ upstream|upstream in v?\d\S*|pushes the current|items are|pushed (?:back|down|aside|onto|to redis)|(?:jobs?|items?|events?|messages?|frames?|elements?|values?|images?|notifications?|data|rows?|entries|keys?|tasks?|requests?|metrics|packages?|nodes?|records?|steps?)\b[^,;]*\b(?:is|are|gets?|get|was|were|being) (?:\w+ )?(?:pushed|published|uploaded|sent)|is sent to the|are sent to the|on merge|on tags|handler|given push)\b`,
)

/** Words after which a sentence describes something that has not happened, or that happens repeatedly. */
export const condition = pattern(
  String.raw`\b(?:if|once|when|before|until|unless|as soon as|whenever|each time|on (?:each|every)|after you|provided|in case|so that)\b`,
)

/** Words that show that a clause doesn't report a push, but is a denial, a plan or a wish. */
export const unreal = pattern(
  String.raw`\b(?:not|never|no|nothing|nobody|cannot|\w+n't|couldnt|wont|cant|unable|without|un-?pushed|should|would|will|shall|might|ought|must|want|if|once|unless|until|when|before|please|to be|needs?|waiting for you|ready to|you'd|you'll have|i'd|i can|i could|you can push|let me|next|todo|yours|yourself|whenever|rather than|instead of|kept|only locally|local only|stays?|remains?|for you to|to push|to publish|to upload|shall i|open pr$)\b`,
)

/**
 * Phrases to ignore: idioms that look like a denial but don't deny the push, and statements about data that a program pushes, such as "whatever was
 * pushed after the quota ran out".
 */
export const harmless = pattern(
  String.raw`\b(?:uploads?|uploader|servers?|endpoints?|api|sync|publisher|command) (?:\w+ ){0,2}?(?:now|no longer|also) (?:\w+ )?(?:rejects?|refuses?|denies|requires?|answers?|replies|fails?|stops?)\b|\b(?:whatever|anything|(?:predicates?|filters?|conditions?|messages?|notifications?|events?|jobs?|items?|rows?|elements?|values?|metrics?)(?: that)?) (?:(?:is|are|was|were|gets?|got|had been|have been|has been) )?pushed\b|\bpushed (?:below|above|down|beneath|past|aside|onto (?:the|a) (?:stack|queue|heap|array|list)|into (?:the|a|an) (?:array|list|queue|stack|vector|buffer))\b|\bwithout (?:an? |any )?(?:hitch|problems?|trouble|issues?|errors?|incident|complaints?|murmur|protests?|objections?|fuss|peep|further ado)\b|\b(?:is|are) (?:no more|gone|no longer) (?:on|from) (?:the )?(?:remote|origin|github|gitlab|server)\b|(?<!\b(?:left|it|yours|up to you|that|is|pushing|push|are) )for (?:you|your team|the team|everyone|everybody|all|review\w*) to (?:review|look|see|try|check|read|inspect|test|pull|fetch|clone|install|use)\b|\bin (?:the|your|our|this) repo(?:sitory)?\b(?! (?:on|at)\b)|\bwill (?=(?:get|give|bring|show) (?:you|them|the)\b)|\bnothing (?:left |more |else )?to (?:push|do)\b|\bno (?:problems?|issues?|trouble|conflicts?|errors?)\b|\b(?:with|as|matches|equals) (?:my |the |our )?local (?:ones?|branch|copy|checkout|commits?|main|master|state|history)\b`,
  'g',
)

/** Words about a remote or a push. If a push failed and no sentence says so, each sentence with such words counts as a claim. */
export const speaksOfIt = pattern(
  String.raw`\b(?:push|pushed|pushing|remote|origin|github|gitlab|bitbucket|upstream|pull request|merge request|pr)\b|\bthe server\b`,
)

/** Words that admit that a push failed. A message with them makes no claim, unless it also says that a later attempt succeeded. */
export const denials = pattern(
  String.raw`\b(?:push\w*|upload\w*|publish\w*|transfer\w*|remote|origin|github|gitlab|bitbucket|server|commit\w*|branch|git|overleaf|sync\w*)\b.*\b(?:not|\w+n't|never|rejected|refused|denied|declined|failed|fails|forbidden|blocked|stopped|impossible|local(?:ly)?(?: only)?|wont|unsuccessful|without success|left to you|left for you|refusing|error\w*|is off|disabled|stopp(?:ed|s) (?:me|us|with|at|short)|kept me|answered|replied|only takes|protected|policy|requires|expired|unauthori[sz]ed|timed out|times out|rejects|denies|hung|no network|yours to)\b|\b(?:not|n't|\w+n't|never|nothing(?: was)?|un-?|without|no|rejected|refused|denied|declined|blocked|couldnt|unable to|refrained from|failed to|stopped me|answered|replied|kept me|kept us|policy|not allowed|instead of|needs? your)\b.*\b(?:push\w*|upload\w*|publish\w*|transfer\w*|remote|origin|on github|the server|sent)\b|\b(?:left|leave|leaving) (?:(?:the|any|all|that) )?(?:\S+[ -])?push\w* (?:to|for|with) you\b|\bpush\w* (?:is|are) (?:up to you|yours)\b|\bunpushed\b|\blocal only\b|\bonly (?:exists )?locally\b|\bstays? local\b|\b(?:not|isn't|nothing is) online\b|\bcan u push\b`,
)

/** A row of a report that admits that a push failed or didn't happen: `push: failed`, or "on the server: no". */
export const deniedAtLabel = pattern(
  String.raw`^(?:git )?(?:push\w*|remote|upload|pr|publish\w*) ?: ?(?!done|ok|yes|✅|✓)(?:not|no|none|fail\w*|reject\w*|refused|denied|declined|skipped|pending|left|❌|✗|blocked|impossible)|\b(?:server|remote|github|origin|online|pushed)[,:]? no\b`,
)

/** Phrases for something that failed at first and then succeeded. */
export const overcome = pattern(
  String.raw`\b(?:second|third|next|another|other|retry|retried|again|then|after(?:wards)?|finally|tries|attempts?|eventually|in the end)\b.*\b(?:went (?:through|fine)|worked|works|succeeded|accepted|got through|did (?:it|its job)|fine|pushed|made it|landed|took it|is (?:on|up))\b`,
)

/** The name of a branch, such as `fix/error-typo`. The words in it say nothing about the push. */
export const branchName = pattern(String.raw`(?<![\w./-])(?!origin/|upstream/)[\w.-]+/[\w./-]+`, 'g')

/** A branch or another name with a slash. Its words don't say what the sentence is about: "pushed to origin/ops/registry-move". */
export const nameWithSlash = pattern(String.raw`(?<![\w./-])[\w.-]+/[\w./-]+`, 'g')

/** Phrases about something that happens repeatedly: "changes are synced when the connection is back". */
export const habit = pattern(
  String.raw`\b(?:is|are|gets?) (?:\w+ )?\w+ed\b[^,;:.—–]*\b(?:when|whenever|once|as soon as|each time|on (?:each|every))\b`,
)

/** Words that refer to a further attempt. */
export const retried = pattern(
  String.raw`\b(?:again|this time|(?:second|third|next) (?:time|try|attempt|push|one)|afterwards?|finally|retr\w+|eventually|in the end)\b`,
)

/** If an unclear sentence about a remote contains one of these words, it doesn't count as a claim. */
export const adverse = pattern(
  String.raw`\b(?:neither|bad news|closed|read-only|40[13]|as before|from (?:origin|the remote|upstream|github)|only|but|however|though|although|answer\w*|fetched|compar\w+|because|differ\w*|other|wait\w*|needs?|still|yet|says?|said|asks?|asked|wants?|conflict\w*|behind|ahead|diverged|missing|password|token|credentials?|key|auth\w*|permission\w*|network|host|policy|config\w*|would|had)\b`,
)
