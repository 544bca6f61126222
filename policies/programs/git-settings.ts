/** Settings that `-c` may set for one git command, since none of them names a file or a program to run. */
const tameSettings = new Set(
  `core.quotepath core.abbrev core.autocrlf core.eol core.filemode core.ignorecase core.precomposeunicode core.safecrlf core.commentchar log.date
   log.decorate log.abbrevcommit log.follow diff.renames diff.algorithm diff.noprefix diff.mnemonicprefix diff.context diff.statgraphwidth
   diff.wserrorhighlight user.name user.email init.defaultbranch commit.gpgsign tag.gpgsign merge.conflictstyle pull.rebase pull.ff push.default
   fetch.prune versionsort.suffix versionsort.prereleasesuffix gc.auto rerere.enabled`.split(/\s+/),
)
const tameSections = /^(?:color|advice|column|status|grep)\.[\w.]+$/

/** Settings that can start programs, each with the values that prevent this. */
const settingOff =
  /^(?:core\.hookspath=(?:\/dev\/null)?|core\.fsmonitor=(?:false)?|core\.pager=(?:cat|false)?|commit\.gpgsign=false)$/i

/** Whether a setting given with `-c` (`name=value`) is harmless: it names no program except `cat` or `false` as the pager, and no file except `/dev/null`. */
export function isTameSetting(setting: string): boolean {
  if (settingOff.test(setting)) return true
  const name = setting.slice(0, setting.indexOf('=')).toLowerCase()
  return setting.includes('=') && (tameSettings.has(name) || tameSections.test(name))
}
