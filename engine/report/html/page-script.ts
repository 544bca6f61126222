/**
 * The script of the page. It filters and opens steps, moves between them, and copies commands. Without the script, the page still shows everything.
 * The script never turns text into elements, and the page's policy would not allow that either.
 */
export const script = `
'use strict'
{
  const all = (what, within = document) => [...within.querySelectorAll(what)]
  const steps = all('.step')
  const tools = document.querySelector('.tools')
  if (tools) {
    tools.hidden = false
    const find = tools.querySelector('input')
    const status = tools.querySelector('select')
    const count = tools.querySelector('output')
    const filter = () => {
      const words = find.value.toLowerCase()
      let shown = 0
      for (const step of steps) {
        const fits = (status.value === '' || step.classList.contains(status.value)) &&
          (words === '' || step.textContent.toLowerCase().includes(words))
        step.hidden = !fits
        if (fits) shown++
      }
      for (const agent of all('.agent')) agent.hidden = all('.step:not([hidden])', agent).length === 0
      count.textContent = shown === steps.length ? '' : shown + ' of ' + steps.length
    }
    find.addEventListener('input', filter)
    status.addEventListener('change', filter)
    const [open, shut] = all('button', tools)
    open.addEventListener('click', () => { for (const step of steps) if (!step.hidden) step.open = true })
    shut.addEventListener('click', () => { for (const step of steps) step.open = false })
    document.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) {
        if (event.key === 'Escape' && event.target === find) { find.value = ''; filter(); find.blur() }
        return
      }
      if (event.key === '/') { event.preventDefault(); find.focus() }
      if (event.key !== 'j' && event.key !== 'k') return
      const shown = steps.filter((step) => !step.hidden)
      const at = shown.findIndex((step) => step.contains(document.activeElement))
      const next = shown[event.key === 'j' ? at + 1 : Math.max(0, at - 1)]
      if (next) { next.querySelector('a').focus(); next.scrollIntoView({ block: 'nearest' }) }
    })
  }
  for (const button of all('.command button')) {
    button.hidden = false
    button.addEventListener('click', async () => {
      const text = button.parentElement.querySelector('code').textContent
      try {
        await navigator.clipboard.writeText(text)
        button.textContent = 'copied'
      } catch {
        getSelection().selectAllChildren(button.parentElement.querySelector('code'))
        button.textContent = 'selected'
      }
    })
  }
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1))
    const step = target && target.closest('details')
    if (step) { step.open = true; step.hidden = false; step.scrollIntoView() }
  }
  addEventListener('hashchange', reveal)
  reveal()
}
`
