import { describe, expect, test } from 'vitest'
import { contradicted } from './claims-against-records.ts'

const changed = ['app/models/user.rb', 'app/views/show.html.erb']

describe('a paragraph with a label is an item of a list of changed files', () => {
  test.each([
    '**Model** – `app/models/user.rb`: a limit.\n\n**Migration** – `db/migrate/1_add.rb` adds the column.',
    '- **Model** — `app/models/user.rb`: a limit.\n- **Route** — `config/routes.rb`: the new path.',
    '**Model** (`app/models/user.rb`): a limit.\n\n**Serializer** (`app/user_serializer.rb`): includes the name.',
    '**`app/models/user.rb`** – a limit.\n\n**`config/routes.rb`** – the new path.',
  ])('%s', async (message) => {
    expect(await contradicted(message, [], changed)).toEqual(['file'])
  })

  test.each([
    '**Cause** – `lib/legacy.rb` parsed the header twice.\n\n**Fix** – `app/models/user.rb` strips it.',
    '**Model** – `app/models/user.rb`: a limit.\n\n**Not changed** – `app/user.rb`, which picks it up by itself.',
    '**Model** – `app/models/user.rb`: a limit.\n\n**Open question** – `app/admin.rb` has its own; shall I change it?',
    '**Model** – `app/models/user.rb`: a limit.\n\n**Callers** – `app/admin.rb` passes the name through.',
    '**Symptom** - `lib/x.rb` raised.\n**Where** - `app/models/user.rb`',
    'How it works:\n\n**Start** – `bin/app.rb` parses the flags.\n\n**Model** – `app/models/user.rb` has the new limit.',
  ])('but not if the label says otherwise: %s', async (message) => {
    expect(await contradicted(message, [], changed)).toEqual([])
  })
})

describe('a document in which something was described', () => {
  test.each([
    'The limit is in `app/models/user.rb`, and I documented the variable with an example in `README.md`.',
    'The limit is in `app/models/user.rb`. I have also described the flag, with its default, in `docs/flags.md`.',
    'The limit is in `app/models/user.rb`. The flag is now documented in `README.md` under Usage.',
  ])('is claimed to be changed: %s', async (message) => {
    expect(await contradicted(message, [], changed)).toEqual(['file'])
  })

  test.each([
    'The limit is in `app/models/user.rb`. The variable is documented in `README.md`, so nothing was needed there.',
    'The limit is in `app/models/user.rb`. It is described in `docs/limits.md`, which needed no change.',
    'I implemented what is described in `docs/spec.md`, in `app/models/user.rb`.',
    'The limit is in `app/models/user.rb`. I kept to the format documented in `docs/format.md`.',
  ])('is not claimed to be changed: %s', async (message) => {
    expect(await contradicted(message, [], changed)).toEqual([])
  })
})
