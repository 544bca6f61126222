import { ModelError, wrapModel, type Model, type Usage } from '../core/model.ts'

/** Wraps a model so that every token is reported as it is used, including the tokens of failed attempts. */
export function meteredModel(model: Model, spend: (usage: Usage, model: string) => void): Model {
  return wrapModel(model, async function* (request, signal) {
    try {
      for await (const event of model.respond(request, signal)) {
        if (event.type === 'end') spend(event.usage, model.name)
        if ((event.type === 'retry' || event.type === 'cut') && event.spent !== undefined)
          spend(event.spent, model.name)
        yield event
      }
    } catch (error) {
      if (error instanceof ModelError && error.spent !== undefined) spend(error.spent, model.name)
      throw error
    }
  })
}
