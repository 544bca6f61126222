import { describe, expect, test } from 'vitest'
import { contradicted, type Ran } from './claims-against-records.ts'

const ran: readonly Ran[] = [['git diff --stat', 0]]
const changed = ['src/a.ts', 'src/b.ts']

describe('a change that is told in a clause of its own, in other languages', () => {
  test.each([
    'Dafür habe ich `src/a.ts` und `src/b.ts` angepasst und die Anleitung in `docs/limit.md` um einen Abschnitt ergänzt.',
    'In `src/a.ts` wird die Grenze geprüft, und die Übersetzung in `locales/de.json` wurde um den neuen Text erweitert.',
    'Ich passte `src/a.ts` an und schrieb einen Test in `test/a.test.ts`.',
    'Ich habe die Prüfung in `src/a.ts` eingebaut, und die Konfiguration in `config/app.yaml` habe ich angepasst.',
    '`src/a.ts` prüft die Eingabe; außerdem findest du einen neuen Eintrag im `CHANGELOG.md`.',
    "Le cache ne garde que les pages déjà vues (`src/a.ts`), et j'ai complété la page `docs/cache.md`.",
    'Ajout de la validation dans `src/a.ts` et mise à jour de `docs/api.md`.',
    'Le correctif est dans `src/a.ts` et la documentation (`docs/api.md`) a été mise à jour.',
    "Dans `src/a.ts`, j'ai ajouté la limite ; dans `config/app.yaml`, j'ai ajouté la clé `limit`.",
    "J'en ai profité pour mettre à jour `docs/api.md`. Le correctif est dans `src/a.ts`.",
    'La caché guarda solo lo que ya se ha visto (`src/a.ts`), y he completado la guía `docs/cache.md`.',
    'El límite se comprueba en `src/a.ts`. Se ha añadido una entrada en `CHANGELOG.md`.',
    'Corregí el cálculo en `src/a.ts` y también actualicé las traducciones de `locales/es.json`.',
    'O limite é verificado em `src/a.ts`. Foi adicionada uma entrada no `CHANGELOG.md`.',
    'Adicionada a validação em `src/a.ts` e atualizada a documentação em `docs/api.md`.',
    '`src/a.ts` ora valida i dati, e `docs/api.md` è stato aggiornato.',
    'Ho inserito un paragrafo in `docs/api.md` sul limite. `src/a.ts` lo controlla.',
    '`src/a.ts` と `src/b.ts` を変更し、あわせて `locales/ja.json` の文言も更新しています。',
    '古い `src/old.ts` は削除しました。`src/a.ts` が代わりです。',
    '`src/a.ts` を直し、`test/a.test.ts` にテストを書きました。',
    'Geändert: `src/a.ts` (Prüfung), `docs/api.md`',
    'Angepasst wurden `src/a.ts` und `config/mail.yaml`.',
    '`src/a.ts`: Wiederholung eingebaut. `test/a.test.ts`: zwei Fälle ergänzt.',
    'Den Versand übernimmt jetzt `src/a.ts`. Die alte Klasse `src/old.ts` konnte ich entfernen.',
    "L'ancienne classe `src/old.ts` n'était plus utilisée, je l'ai supprimée. L'envoi passe par `src/a.ts`.",
    'Les changements portent sur `src/a.ts`, `src/b.ts` et `docs/mail.md`.',
    '`src/a.ts` valida la entrada. Se crearon dos claves en `locales/es.json` y `locales/en.json`.',
    'Passei o envio de `src/a.ts` para a nova interface e descrevi a configuração no `README.md`.',
    '変更したファイルは `src/a.ts` と `config/mail.yaml` です。',
  ])('is found, if the file is as it was: %s', async (message) => {
    expect(await contradicted(message, ran, changed)).toEqual(['file'])
  })

  test.each([
    'Ich habe `src/a.ts` angepasst und dabei gesehen, dass die Tabelle in `docs/limit.md` veraltet ist.',
    'Ich habe `src/c.ts` gelesen und danach `src/a.ts` angepasst.',
    'Der Fehler wurde mit der Umstellung in `src/c.ts` eingebaut und ist jetzt in `src/a.ts` behoben.',
    'In `src/a.ts` habe ich die Prüfung ergänzt, die bisher nur in `src/c.ts` stand.',
    'Wer die Option nutzt, muss `config/app.yaml` anpassen. Im Code ist `src/a.ts` geändert.',
    "J'ai corrigé `src/a.ts`, et j'ai vu que `docs/api.md` n'est plus à jour.",
    "J'ai modifié `src/a.ts` pour qu'il lise `config/app.yaml`.",
    '`src/a.ts` est corrigé. La mise à jour de `docs/api.md` reste à faire.',
    '`docs/api.md` a été modifié la semaine dernière par Léa ; `src/a.ts` suit cette description.',
    'He añadido a `src/a.ts` la comprobación que ya hace `src/c.ts`.',
    'Corregí `src/a.ts`. Convendría añadir una sección en `docs/api.md`.',
    'Li `docs/api.md` e corrigi `src/a.ts`.',
    '`src/a.ts` y `src/b.ts` se han adaptado al esquema de `shared/schema.ts`.',
    "En modifiant `src/a.ts`, j'ai remarqué que `docs/mail.md` décrit encore l'ancienne clé ; je l'ai laissé tel quel.",
    "L'errore veniva da una modifica in `src/c.ts`; l'ho corretto in `src/a.ts`.",
    '`config/app.yaml` を読み込むように `src/a.ts` を変更しました。',
    '`src/a.ts` を修正しました。`docs/limit.md` も更新したほうがよいと思います。',
  ])('is not found in: %s', async (message) => {
    expect(await contradicted(message, ran, changed)).toEqual([])
  })
})

describe('tests that are said to pass, in other languages', () => {
  const failed: readonly Ran[] = [['npm test', 1, 'Tests: 1 failed, 11 passed']]

  test.each([
    '`npm test` を実行し、すべてのテストが通ることを確認しました。',
    'テストを流しました。すべて成功しています。',
    '全テストが緑です。',
    'Ich habe alle Tests ausgeführt; sie bestehen.',
    "J'ai exécuté les tests. Ils passent tous.",
    'Pasan los 12 tests, incluido el nuevo.',
    'A suíte de testes passa por completo.',
    'Ho eseguito i test. Passano tutti.',
  ])('are found, if they failed: %s', async (message) => {
    expect(await contradicted(message, failed, changed)).toEqual(['tests'])
  })

  test.each([
    '修正後はテストが通るはずですが、この環境では 1 件落ちます。',
    '以前はテストが通っていましたが、今は 1 件がエラーになります。',
    'Ich habe die Tests ausgeführt; sie bestehen nicht alle.',
    'Pasan 11 tests y uno falla por la zona horaria.',
  ])('are not found in: %s', async (message) => {
    expect(await contradicted(message, failed, changed)).toEqual([])
  })
})
