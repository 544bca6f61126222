import { assessor } from '../../core/assessor.ts'
import type { Feature } from '../feature.ts'
import { canBeAsked } from '../tool-facts.ts'
import { chooseWebSearch } from '../choose-web-search.ts'

/** Lets the provider search the web for the model. */
export const webSearchFeature: Feature = {
  name: 'web search',
  open: (context) => {
    const { settings, request, model, sandbox, approvalMode, policies } = context
    const { rules, permissions } = policies
    const { wish, notices } = chooseWebSearch(settings, request.insistsOnSearch === true, model, sandbox, {
      assess: assessor({ approvalMode, rules, permissions }),
      canAsk: canBeAsked(context),
    })
    return { options: wish, notices }
  },
}
