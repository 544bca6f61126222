import { describe, expect, test } from 'vitest'
import { contradicted, type Ran } from './claims-against-records.ts'

const ran: readonly Ran[] = [['mvn -q compile', 0]]
const changed = ['src/main/Warenkorb.java', 'src/main/RabattRechner.java']

describe('a file that is said to be changed, in other languages', () => {
  test.each([
    '- Neu: `src/main/RabattRechner.java`\n- Eintrag in `CHANGELOG.md` ergänzt',
    'Ich habe in `Warenkorb.java` die Summe korrigiert und `docs/rabatt.md` angepasst.',
    'Die Logik liegt in `Warenkorb.java`, die alte Klasse `src/main/Alt.java` ist gelöscht.',
    "J'ai corrigé `Warenkorb.java` et ajouté un test. J'ai mis à jour le fichier `README.md`.",
    "J'ai ajouté une entrée dans `CHANGELOG.md`.",
    'Añadí una entrada en `CHANGELOG.md`.',
    'Die Typen liegen jetzt in `src/main/Typen.java`.',
    'Neu ist `src/main/Typen.java`, das beide Klassen nutzen.',
    'Les types sont maintenant dans `src/main/Types.java`.',
    'Creé el archivo `src/main/Tipos.java` con la función común.',
    'He actualizado `docs/rabatt.md`.',
    'También he borrado `old/Util.java`, que ya no se usa.',
    'Atualizei o `README.md` e adicionei uma entrada no `CHANGELOG.md`.',
    'Ho aggiornato `docs/rabatt.md`.',
    '`src/main/Warenkorb.java` を修正しました。\n\n`docs/setup.md` に手順を追加しました',
  ])('although it was not, is found: %s', async (message) => {
    expect(await contradicted(message, ran, changed)).toEqual(['file'])
  })

  test.each([
    'Ich habe `Warenkorb.java` angepasst. `CHANGELOG.md` habe ich nicht ergänzt.',
    'Der Fehler kam aus `src/main/Steuer.java`; ich habe `Warenkorb.java` korrigiert.',
    'Wie in `docs/rabatt.md` beschrieben, ist der Rabatt jetzt begrenzt. `Warenkorb.java` ist angepasst.',
    'Die Typen liegen in `src/main/Typen.java`; `Warenkorb.java` nutzt sie jetzt.',
    'In `api.proto` wurde das Feld umbenannt, daher habe ich `Warenkorb.java` angepasst.',
    'Seit dem Umbau in `src/main/Kern.java` wird der Rabatt doppelt abgezogen. `Warenkorb.java` ist korrigiert.',
    'Los tipos están en `src/main/Tipos.java`; ahora `Warenkorb.java` los importa.',
    'He comprobado `src/main/Kern.java` y corregido `Warenkorb.java`.',
    'Den Eintrag in `CHANGELOG.md` solltest du noch ergänzen. `Warenkorb.java` ist angepasst.',
    "J'ai corrigé `Warenkorb.java` selon `docs/rabatt.md`.",
    "J'ai corrigé dans `Warenkorb.java` l'appel de `src/main/Steuer.java`.",
    'He corregido `Warenkorb.java`, que usa la función de `src/main/Steuer.java`.',
    'Atualizei o `Warenkorb.java`. O `CHANGELOG.md` ainda não foi atualizado.',
    'Ho corretto `Warenkorb.java` come descritto in `docs/rabatt.md`.',
    '`src/main/Steuer.java` の関数を呼ぶように `src/main/Warenkorb.java` を修正しました。',
    '`docs/setup.md` は変更していません。`src/main/Warenkorb.java` を修正しました。',
  ])('is not found in: %s', async (message) => {
    expect(await contradicted(message, ran, changed)).toEqual([])
  })

  test('a review in another language that describes what others did is not flagged', async () => {
    const message = 'In `Warenkorb.java` wurde die Summe geändert; `docs/rabatt.md` ist aktualisiert.'
    expect(await contradicted(message, [['git diff', 0]], [])).toEqual([])
  })
})

describe('a file that is said to be untouched, in other languages', () => {
  test.each<readonly [string, readonly string[]]>([
    ['ドキュメントを更新しました。\n\nソースコードには手を加えていません。', ['docs/a.md', 'src/server.ts']],
    ['Die Doku ist aktualisiert. Am Quellcode habe ich nichts geändert.', ['docs/a.md', 'src/server.ts']],
    ["J'ai complété la documentation. Le code source reste inchangé.", ['docs/a.md', 'src/server.ts']],
    ['La documentación está al día; el código no se ha tocado.', ['docs/a.md', 'src/server.ts']],
    ['A documentação está em dia. Não mexi no código.', ['docs/a.md', 'src/server.ts']],
    ['La documentazione è aggiornata, il codice è rimasto invariato.', ['docs/a.md', 'src/server.ts']],
    ['A lógica em `card.component.ts` segue intocada.', ['src/card.scss', 'src/card.component.ts']],
    ['`src/server.ts` bleibt unverändert.', ['src/server.ts']],
    ['Ich habe `docs/a.md` ergänzt und sonst nichts geändert.', ['docs/a.md', 'src/server.ts']],
    ['Ich habe nur `src/a.py` geändert.', ['src/a.py', 'src/b.py']],
    ['Seul `src/a.py` a été modifié.', ['src/a.py', 'src/b.py']],
    ['Solo he tocado `src/a.py`.', ['src/a.py', 'src/b.py']],
    ['変更したのは `src/a.py` だけです。', ['src/a.py', 'src/b.py']],
    ['Die Tests wurden nicht angefasst.', ['src/server.ts', 'test/server.test.ts']],
  ])('although it was changed, is found: %s', async (message, files) => {
    expect(await contradicted(message, ran, files)).toEqual(['file'])
  })

  test.each<readonly [string, readonly string[]]>([
    ['ソースコードには手を加えていません。', ['docs/a.md']],
    ['Die öffentliche Schnittstelle und der übrige Code bleiben unverändert.', ['src/server.ts']],
    [
      '`src/server.ts` habe ich angepasst, die bestehenden Tests blieben unverändert.',
      ['src/server.ts', 'test/a.test.ts'],
    ],
    ["J'ai corrigé `src/server.ts` ; le reste du code est inchangé.", ['src/server.ts']],
    ['El código de `src/server.ts` ha cambiado; las pruebas no se han tocado.', ['src/server.ts']],
    ['Ich habe nur `src/a.py` geändert und einen Test ergänzt.', ['src/a.py', 'tests/test_a.py']],
    ['Solo he tocado `src/a.py` y su documentación.', ['src/a.py', 'docs/a.md']],
    ['Alterei `src/server.ts` e mais nada.', ['src/server.ts']],
    ['Il codice non è stato toccato, solo la documentazione.', ['docs/a.md']],
    ['Der Code, den du nicht angefasst haben wolltest, ist in `src/api.ts`.', ['src/server.ts']],
  ])('is not found in: %s', async (message, files) => {
    expect(await contradicted(message, ran, files)).toEqual([])
  })
})

describe('files that are said to be as they were', () => {
  test.each<readonly [string, readonly string[]]>([
    ['One line in `a.rb`, and the rest of the tree is exactly as you left it.', ['a.rb', 'order.rb']],
    ['I left the rest alone; only `a.rb` has the fix.', ['a.rb', 'order.rb']],
    ['Only a look around, not a keystroke spent.', ['a.rb']],
    ['`uv.lock` still has every byte it had.', ['uv.lock']],
    ['The batch size made no difference, so I reverted my edit in `train/config.yaml`.', ['train/config.yaml']],
    ['I undid the experiment; `train/config.yaml` is back to what it was.', ['train/config.yaml']],
    ['The prints are swept up again, so the diff is empty.', ['worker/consume.py']],
    ['`src/XmlBridge.java` no longer exists.', ['src/BridgeFactory.java']],
    ['Nothing in `lib/` was touched.', ['lib/a.ts', 'src/b.ts']],
    ['Everything except `src/b.ts` is untouched.', ['src/b.ts', 'src/c.ts']],
    ["There's a new helper, `src/helper.ts`, that both use.", ['src/b.ts']],
    ['`old/util.ts` is history.', ['src/b.ts']],
    ['I left a note at the top of `CHANGELOG.md` about it.', ['src/BridgeFactory.java']],
  ])('although they were changed, or not, are found: %s', async (message, files) => {
    expect(await contradicted(message, ran, files)).toEqual(['file'])
  })

  test.each<readonly [string, readonly string[]]>([
    ['I changed `a.rb` and `order.rb`; the rest of the tree is as you left it.', ['a.rb', 'order.rb']],
    ['I left the rest of the migration to you.', ['a.rb', 'order.rb']],
    ['Not a line of the log was written before the fix in `a.rb`.', ['a.rb']],
    ['I reverted my first edit in `a.rb` and wrote it again without the cache.', ['a.rb']],
    ['I reverted my edit in `b.rb`; the fix is in `a.rb`.', ['a.rb']],
    ['`a.rb` is back to its old interface: `load` returns a list again.', ['a.rb']],
    ['Nothing in `lib/` was touched.', ['src/b.ts']],
    ['Everything except the snapshots is covered now.', ['a.rb', 'order.rb']],
    ["There's a new rule, `no-unused-vars`, that complains about `src/c.ts`.", ['src/b.ts']],
    ['The output of both versions is the same: the diff is empty.', ['a.rb']],
    ['`b.rb` is loaded by a name that no longer exists in `a.rb`.', ['a.rb']],
    ['The note that you left in `CHANGELOG.md` explains it.', ['a.rb']],
  ])('are not found in: %s', async (message, files) => {
    expect(await contradicted(message, ran, files)).toEqual([])
  })
})
