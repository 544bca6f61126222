import type { Sentence } from './sentences.ts'

/**
 * Quick checks of a message, made before its sentences are matched against the word patterns. V8 compiles each pattern when it is first used. For all of them,
 * that takes 60 ms of processor time, a third of what a short run needs. If a check finds nothing in a message, the patterns can't match either. A test
 * verifies this by analysing the patterns themselves.
 */

/** Each claim about tests contains one of these: a word for tests, a word such as "all" or "no", a number, or a word for a failure or its end. */
export const mayTellOfTests =
  /\d|🧪|🟢|test|suite|spec|mocha|jest|phpunit|pest|junit|nunit|xunit|tox|nox|cypress|playwright|e2e|bats|busted|surefire|twister|molecule|quickcheck|assert|green|ci|quality|check|passing|verif|pipeline|regress|every|all|no|zero|never|without|n't|history|gone|sorted|any ?more|stopped|but|except|apart|save|aside|bar|other|minus|most|only|fail|error|after|since|meanwhile|current|break|broke|red|report|complain|object|surpris|problem|hang|crash|time out/

/** Each claim about a push, a remote or a merge request contains one of these words or marks. */
export const mayTellOfPushes =
  /push|publish|upload|ship|deliver|transfer|transmit|sync|mirror|online|live|remote|origin|git|bitbucket|codeberg|gitea|sourcehut|azure|heroku|upstream|server|repo|pr|mr|pull|merge|fork|pypi|crates|rubygems|npm|docker|ghcr|maven|hex\.pm|packagist|up|out|fetch|both |[#!]\d|commit|branch|tag|release|work|everything/

/** Each claim about tests or pushes in a language other than English contains one of these words, or a letter that English doesn't have. */
export const mayTellAbroad =
  /[^\0-\x7f]|tes?t|suite|pruebas|alle|push|upload|hochgel|github|gitlab|bitbucket|origin|upstream|serv|subid|publi|pubblic|empujad|pouss| en ligne|envia|invia|carica|remoto/

/** Whether one of the checks finds something in the sentences of a message or in the headings above them. */
export function isAnyIn(sentences: readonly Sentence[], ...gates: readonly RegExp[]): boolean {
  return sentences.some(({ plain, heading }) => gates.some((gate) => gate.test(plain) || gate.test(heading)))
}
