import { describe, expect, test } from 'vitest'
import { holdsSecret, namesSecret } from '../../policies/index.ts'

describe('a name', () => {
  test.each(
    `.env .env.local .env.production.bak token.pickle token.json storageState.json playwright/.auth/user.json .act.secrets
    group_vars/all/vault.yml auth.json cookies.txt mnemonic.txt splunk.secret config/master.key api_keys.csv github_token
    db_password TOKEN wallet.json my.session jwt.key server.p12 keystore.jks creds.ini service_account.json prod.tfvars
    .vault-token kubeconfig-prod.yaml oauth_client.json accessToken.txt refresh_token.bin passphrase.txt recovery-codes.txt
    .htpasswd secrets/db keys.txt session_cookies.json dsn.txt ftp_login.txt`
      .trim()
      .split(/\s+/),
  )('says that the file holds a secret: %s', (name) => expect(namesSecret(name)).toBe(true))

  test('of a file in which a program keeps secrets at the top of a home says it anywhere, unless a package manager needs it', () => {
    const atHome = new Set(['.boto', '.npmrc'])
    const names = ['deploy/.boto', 'x.boto', '.npmrc', 'node_modules/x/.boto']
    expect(names.filter((name) => namesSecret(name, atHome))).toEqual(['deploy/.boto'])
  })

  test.each(
    `src/index.ts package.json tokens.json tokenizer.json special_tokens_map.json max_tokens.json keyboard.json notes.txt
    src/auth/login.ts password-reset.json i18n/en.json sessions.md keys.ts vocab.txt public.pem ca.pem config.yml
    .env.example secrets.example.yml author.json monkey.json LICENSE poetry.lock token_usage.csv cookie-policy.html
    .npmrc pip.conf node_modules/tls/test/server.pem venv/lib/site-packages/x/token.json`
      .trim()
      .split(/\s+/),
  )('says nothing: %s', (name) => expect(namesSecret(name)).toBe(false))
})

/** A key or a token of a known form, in pieces, so that nobody takes this file for one that holds a secret. */
const token = ['ghp', 'abcdefghijklmnopqrstuvwxyz0123456789'].join('_')
const key = ['-----BEGIN RSA PRIVATE', 'KEY-----\nMIIabcdef0123\n'].join(' ')

describe('a content', () => {
  test.each([
    ['notes', token],
    ['src/a.ts', `const x = '${token}'`],
    ['thing.txt', key],
    ['rclone.conf', '[s3]\ntype = s3\nsecret_access_key = abc/def123\n'],
    ['.mcp.json', '{"env":{"DB_PASSWORD":"hunter2"}}'],
    ['config/database.yml', 'production:\n  password: hunter2\n'],
    ['my.cnf', '[client]\npassword=correcthorse\n'],
    ['wg0.conf', '[Interface]\nPrivateKey = aGVsbG8gd29ybGQgaGVsbG8gd29ybGQ=\n'],
    ['x.xml', '<server><password>s3cret-value</password></server>'],
    ['url.txt', 'postgres://app:pa55word@db.internal/app'],
    ['local_settings.py', "DB_PASSWORD = 'hunter2hunter2'"],
    ['packages/a/.npmrc', '//registry.npmjs.org/:_authToken=abcdefghijklmnopqrst0123'],
    ['wallet', 'abandon ability able about above absent absorb abstract absurd abuse access accident\n'],
    ['value', '0123456789abcdef0123456789abcdef\n'],
    ['users', 'admin:$apr1$abcd$efghijklmnop\n'],
    ['env.sh', 'export DB_PASSWORD=hunter2\n'],
    ['redis.conf', 'port 6379\nrequirepass hunter2\n'],
    ['mail', 'machine mail.internal login ada password hunter22\n'],
    ['sites.xml', '<Server><Pass encoding="base64">aHVudGVyMg==</Pass></Server>'],
    ['call.http', 'GET /\nAuthorization: Bearer abcdef0123456789\n'],
    ['id.json', `[${Array.from({ length: 64 }, (_, index) => (index * 37) % 256).join(',')}]`],
    ['docker.json', '{"auths":{"x":{"auth":"dXNlcjpwYXNzd29yZA=="}}}'],
  ])('has the shape of a secret: %s', (name, text) => expect(holdsSecret(name, text)).toBe(true))

  test.each([
    ['src/a.ts', 'const password = await ask(`password: `)\nconst token = process.env.TOKEN'],
    ['en.json', '{"password": "Password", "token": "Token", "secret": true, "api_key": "Your API key"}'],
    ['openapi.yml', 'properties:\n  password:\n    type: string\n  token: { type: string }\n'],
    ['compose.yml', 'environment:\n  POSTGRES_PASSWORD: ${DB_PASSWORD}\n  TOKEN: $TOKEN\n'],
    ['ci.yml', 'with:\n  token: ${{ secrets.GITHUB_TOKEN }}\n'],
    ['limits.json', '{"max_tokens": 4096, "token_count": 12, "primary_key": "id"}'],
    ['.env.example', 'API_KEY=abc123def456\n'],
    ['README.md', 'Set `password: hunter2` in the file.'],
    ['run.sh', 'TOKEN=$1\nKEY="$(cat key)"\ncase $token in abc123) ;; esac\npassword=prompt1\n'],
    ['story.txt', 'The next token is 123456, and the secret of it is that nobody asked.\nkey 123456\n'],
    ['points.json', '[[0,1,2],[3,4,5]]'],
    ['a.csv', 'name,age\nada,36\n'],
    ['hosts', 'https://example.com/a@b\n'],
    ['word', 'hello\n'],
    ['.npmrc', '//registry.npmjs.org/:_authToken=npm_abcdefghijklmnopqrstuvwxyz0123456789'],
  ])('has no such shape: %s', (name, text) => expect(holdsSecret(name, text)).toBe(false))
})
