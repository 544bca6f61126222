import { createHash } from 'node:crypto'
import { html, ownElement, type Html } from './html.ts'
import { script } from './page-script.ts'
import { style } from './page-style.ts'

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/**
 * The page's content security policy: nothing may be loaded, run or sent. The only exceptions are the page's own style and script, which are identified by
 * their hashes. The policy comes first in the head, so that it applies to everything that follows.
 */
const policy = [
  "default-src 'none'",
  `script-src ${hashOf(script)}`,
  `style-src ${hashOf(style)}`,
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/** Renders a whole page that loads nothing: the content, our style, and the script that filters steps. */
export function renderDocument(title: string, content: Html): string {
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta http-equiv="Content-Security-Policy" content="${policy}" />
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        ${ownElement('style', style)}
      </head>
      <body>
        ${content} ${ownElement('script', script)}
      </body>
    </html> `
  return page.toString()
}
