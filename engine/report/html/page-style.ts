/** The style of the page. The page works without a script: `details` elements open and close, and checkboxes switch views. */
export const style = `
:root{color-scheme:light dark;--bg:#fff;--fg:#1f2328;--dim:#59636e;--line:#d1d9e0;--soft:#f6f8fa;--link:#0757ba;--ok:#116329;--okbg:#dafbe1;--bad:#b3261e;--badbg:#ffebe9;--warn:#7a4d00;--warnbg:#fff8c5;--blue:#0757ba;--bluebg:#ddf4ff;--add:#e6ffec;--del:#ffebe9;--k:#a0111f;--s:#0a3069;--n:#0550ae;--t:#6639ba;--b:#8a3c00}
@media(prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--dim:#9198a1;--line:#30363d;--soft:#161b22;--link:#58a6ff;--ok:#56d364;--okbg:#0f2a18;--bad:#ff8982;--badbg:#3a1517;--warn:#e3b341;--warnbg:#2e2410;--blue:#79c0ff;--bluebg:#10233d;--add:#10301c;--del:#3a1517;--k:#ff7b72;--s:#a5d6ff;--n:#79c0ff;--t:#d2a8ff;--b:#ffa657}}
*{box-sizing:border-box}
body{overflow-wrap:anywhere;margin:0 auto;max-width:1100px;padding:24px 20px 80px;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
a{color:var(--link)}
h1{font-size:24px;line-height:1.3;margin:0 0 4px}
h2{font-size:18px;margin:40px 0 12px;padding-bottom:6px;border-bottom:1px solid var(--line)}
h3{font-size:15px;margin:20px 0 8px}
code,pre,.mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:13px}
pre{margin:8px 0;padding:10px 12px;overflow:auto;max-height:32em;background:var(--soft);border:1px solid var(--line);border-radius:6px;white-space:pre-wrap}
:not(pre)>code{background:var(--soft);border-radius:4px;padding:1px 4px}
.dim,.target{color:var(--dim)}.target{font-size:13px}
.end{border:1px solid var(--line);border-left:6px solid var(--dim);border-radius:8px;padding:16px 20px;margin:0 0 20px}
.end.ok{border-left-color:var(--ok)}.end.bad{border-left-color:var(--bad)}.end.warn{border-left-color:var(--warn)}
.end p{margin:6px 0 0}
.badge{display:inline-block;font-size:12px;font-weight:600;line-height:18px;padding:1px 9px;border-radius:10px;background:var(--soft);color:var(--dim);white-space:nowrap}
.badge.ok{background:var(--okbg);color:var(--ok)}.badge.failed,.badge.bad{background:var(--badbg);color:var(--bad)}.badge.refused,.badge.warn{background:var(--warnbg);color:var(--warn)}.badge.open{background:var(--bluebg);color:var(--blue)}
.facts{display:grid;grid-template-columns:repeat(4,1fr);gap:10px;margin:16px 0;padding:0}
.facts div:first-child{grid-column:span 2}.facts div{border:1px solid var(--line);border-radius:6px;padding:8px 12px;min-width:0}
.facts dt{font-size:12px;color:var(--dim)}.facts dd{margin:0;font-weight:600}
.facts small{display:block;font-weight:400;font-size:12px;color:var(--dim)}
.box{border:1px solid var(--line);border-radius:6px;padding:10px 14px;margin:10px 0;background:var(--soft)}
.box.warn{background:var(--warnbg);border-color:var(--warn)}
.box ul{margin:4px 0;padding-left:20px}
nav{display:flex;flex-wrap:wrap;gap:4px 16px;margin:20px 0;font-size:14px}
.say{margin:10px 0}
.attention{list-style:none;margin:0;padding:0}
.attention>li{border:1px solid var(--line);border-left:4px solid var(--dim);border-radius:6px;padding:8px 14px;margin:8px 0}
.attention>li.bad{border-left-color:var(--bad)}.attention>li.warn{border-left-color:var(--warn)}
.attention p{margin:2px 0}
.how{color:var(--dim)}
details>summary{cursor:pointer}
.step{border:1px solid var(--line);border-radius:6px;margin:6px 0}
.step>summary{display:flex;gap:8px;align-items:baseline;padding:6px 12px;list-style:none}
.words{display:flex;gap:8px;align-items:baseline;padding:2px 12px;border-color:transparent}.words>div{flex:1;min-width:0}.words:target{outline:2px solid var(--blue)}
.step>summary::-webkit-details-marker{display:none}
.step>summary::before{content:"▸";color:var(--dim);flex:none}.step[open]>summary::before{content:"▾"}
.step .num{flex:none;min-width:2.2em;text-align:right;color:var(--dim);font-size:13px;text-decoration:none}
.step .kind{flex:none;width:5.5em;color:var(--dim);font-size:13px}
.step .what{flex:1;min-width:0;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.step[open] .what{white-space:normal}
.step .took{flex:none;color:var(--dim);font-size:13px;white-space:nowrap}
.step.failed{border-left:4px solid var(--bad)}.step.refused{border-left:4px solid var(--warn)}.step.open{border-left:4px solid var(--blue)}
.step .in{padding:4px 14px 12px;scroll-margin-top:60px}
.step:has(.in:target){outline:2px solid var(--blue)}
.label{font-size:12px;color:var(--dim);margin:8px 0 0}
.agent{border-left:3px solid var(--line);margin:8px 0 8px 14px;padding-left:12px}
.file{border:1px solid var(--line);border-radius:6px;margin:8px 0;overflow:hidden}
.file>summary{padding:7px 12px;font-size:13px;background:var(--soft)}
.plus{color:var(--ok)}.minus{color:var(--bad)}
.diff{margin:0;padding:0;white-space:normal;overflow:auto;max-height:80vh;background:none;border:0;border-top:1px solid var(--line);border-radius:0}.b{display:block}.bare{display:none}
.l{display:flex;min-height:19px;line-height:19px}.l code{background:none;padding:0 8px 0 3ch;text-indent:-3ch;white-space:pre-wrap;flex:1;min-width:0}
.l .n{flex:none;width:48px;padding-right:8px;text-align:right;color:var(--dim);user-select:none;font-size:12px}
.l.a{background:var(--add)}.l.d{background:var(--del)}.l.at{padding:2px 12px;background:var(--soft);color:var(--dim);font-family:ui-monospace,monospace;font-size:12px}
#change:has(#split:checked) .b{display:grid;grid-template-columns:1fr 1fr;grid-auto-flow:row dense}
#change:has(#split:checked) .b .d{grid-column:1}#change:has(#split:checked) .b .a{grid-column:2}
.hk{color:var(--k)}.hs{color:var(--s)}.hn{color:var(--n)}.hc{color:var(--dim)}.ht{color:var(--t)}.hb,.ha{color:var(--b)}
.chart{margin:12px 0}.chart svg{width:100%;height:90px;border-bottom:1px solid var(--line)}
.tokens-area{fill:var(--bluebg)}.tokens-line{fill:none;stroke:var(--blue);stroke-width:2;vector-effect:non-scaling-stroke}.cost-line{fill:none;stroke:var(--warn);stroke-width:2;stroke-dasharray:5 3;vector-effect:non-scaling-stroke}
.key{display:inline-block;width:16px;height:0;border-top:3px solid var(--blue);vertical-align:middle}.cost-key{border-top:3px dashed var(--warn)}
figcaption{font-size:13px;color:var(--dim)}
table{border-collapse:collapse}th,td{border:1px solid var(--line);padding:4px 10px;text-align:left;vertical-align:top;overflow-wrap:break-word}.wide{overflow:auto}td code{overflow-wrap:anywhere}
.plain th{width:11em;font-weight:400;color:var(--dim)}.plain{width:100%}.plain td{overflow-wrap:anywhere}
.numbers td,.numbers th{white-space:nowrap;font-variant-numeric:tabular-nums}.numbers th:first-child{white-space:normal;overflow-wrap:anywhere;min-width:14em}
.matrix th,.matrix td{overflow-wrap:anywhere;min-width:9em}.matrix .why{font-size:13px;line-height:1.4;color:var(--dim);margin-top:2px}.matrix a:hover .badge{text-decoration:underline}
.md p{margin:6px 0}.md .h{font-weight:600;margin:12px 0 4px}.md .h1,.md .h2{font-size:17px}.md ul,.md ol{margin:4px 0;padding-left:24px}.md blockquote{margin:6px 0;padding-left:12px;border-left:3px solid var(--line);color:var(--dim)}
.command{display:flex;gap:8px;align-items:center;margin:6px 0}.command pre{flex:1;margin:0;min-width:0}
.tools{position:sticky;top:0;z-index:1;display:flex;flex-wrap:wrap;gap:8px;padding:8px 0;background:var(--bg);border-bottom:1px solid var(--line);margin-bottom:8px}
[hidden]{display:none!important}
button,input[type=search],select{font:inherit;font-size:14px;color:var(--fg);background:var(--soft);border:1px solid var(--line);border-radius:6px;padding:4px 10px}input[type=search]{flex:1;min-width:8em}
::placeholder{color:var(--dim);opacity:1}
:focus-visible{outline:2px solid var(--blue);outline-offset:1px}.file>summary:focus-visible{outline-offset:-2px}
footer{margin-top:48px;color:var(--dim);font-size:13px;border-top:1px solid var(--line);padding-top:12px}
@media(max-width:640px){body{padding:14px 10px 60px}.step>summary{flex-wrap:wrap}.step .kind{width:auto}.step .what{flex-basis:100%;order:1}.l .n{width:34px}.agent{margin-left:4px}#change:has(#split:checked) .b{display:block}.facts{grid-template-columns:1fr 1fr}.tools{position:static}.toggle{display:none}.plain th,.plain td{display:block;width:auto;border-width:0 1px}.plain tr{display:block;border:solid var(--line);border-width:1px 0;margin-top:-1px;padding:4px 0}.plain th,.plain td{padding:0 10px}
.matrix,.matrix tbody,.matrix tr,.matrix th,.matrix td{display:block}.matrix thead{display:none}.matrix tr{border:1px solid var(--line);border-radius:6px;margin:8px 0;padding:6px 12px}.matrix th,.matrix td{border:0;padding:2px 0}.matrix td+td{margin-top:6px}.matrix td[data-model]::before{content:attr(data-model);display:block;font-size:12px;color:var(--dim)}}
@media print{body{max-width:none}.tools,nav,.command button,.toggle{display:none}pre,.diff{max-height:none}#change .file::details-content{content-visibility:visible;block-size:auto}.l,.badge,.chart{print-color-adjust:exact;-webkit-print-color-adjust:exact}.step,.file,.attention>li,.matrix tr{break-inside:avoid-page}a{color:inherit}}
`
