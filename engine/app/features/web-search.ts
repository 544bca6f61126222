import type { Feature } from '../feature.ts'
import { chooseWebSearch } from '../web-search.ts'

/** The model's provider searches the web for it. */
export const webSearchFeature: Feature = {
  name: 'web search',
  open: ({ settings, request, model, sandbox }) => {
    const { wish, notices } = chooseWebSearch(settings, request.insistsOnSearch === true, model, sandbox)
    return { options: wish, notices }
  },
}
