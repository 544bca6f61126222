const list = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

/** Names of files that contain a secret, in any folder, although no word in them says so. */
const secretNames: readonly RegExp[] = [
  /^\.?[\w.-]*\.env[~_-]?$/,
  /^\.+env(?:[~_-]|\.sw.$)|^\.(?:envrc|flaskenv|environment)$|^\.dev\.vars$/,
  /^[\w-]+\.env\.(?:local|prod|production|dev|development|stag|staging|test)$/,
  /^\.(?:token|password|passwd|api[-_]?key)s?$|^tokens\.(?:txt|csv|env|ini)$|^\.?vault[-_]pass(?:word)?$/,
  /^\.?credentials(?:_|$)|[._-](?:secrets?|credentials?|passw(?:or)?d)$/,
  /^(?:private|deploy)[-_]key$|_(?:rsa|dsa|ecdsa|ed25519)$|\.(?:ovpn|kdb|agekey|pkcs12|tfvars)$|adminsdk/,
  /^kubeconfig$|^\.clasprc\.json$|^\.ftpconfig$|^sftp(?:-config)?\.json$|^terraform\.tfstate|^krb5cc_/,
  /^[._](?:npmrc|netrc|pgpass|pypirc|git-credentials|htpasswd|dockerconfigjson)(?:[~.]|$)/,
  /^xauthority$|^xauth_[a-z0-9]{6}$|^\.mutter-xwaylandauth/,
]

/** Files of frameworks and editors that contain a secret, at the end of a path. */
const projectFiles =
  /(?:^|\/)(?:\.hg\/hgrc|\.idea\/webservers\.xml|\.kamal\/secrets(?:-common)?|\.mvn\/settings\.xml|\.cursor\/mcp\.json|clouds\.yaml|local\.settings\.json|pip\.(?:conf|ini)|nuget\.config|wp-config\.php|app\/etc\/env\.php|localsettings\.php|settings\.local\.php|sites\/default\/settings\.php|configuration\.php|app\/config\/parameters\.yml|config\/autoload\/local\.php|protected\/config\/database\.php|jupyter_server_config\.json|state\.vscdb|swapfile|swap\.img|hiberfil\.sys|pagefile\.sys)$/

const exampleNames = /example|sample|template|external-secret|schema|^(?:test|tests|default|defaults|dist)\.env$/

/** Whether the end of a path, which must be in lower case, indicates a file with a secret: a known name, or a word for a secret with an extension for data. */
export function isSecretName(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (exampleNames.test(name)) return false
  if (secretNames.some((known) => known.test(name)) || projectFiles.test(path)) return true
  const end = name.lastIndexOf('.')
  return end > 0 && (formats.has(name.slice(end + 1)) || name.endsWith('.env')) && isAboutSecret(name)
}

/** Words that stand for a secret if they are what a name, or a key of a setting, is about. */
const secretWords = list(`
  secret secrets credential credentials cred creds password passwords passwd passwds passphrase passphrases pass pwd pw pin
  token pat jwt key keys apikey apikeys accesskey accesskeys secretkey privatekey privatekeys sshkey masterkey
  psk auth oauth oauth2 authtoken accesstoken refreshtoken bearer authorization cookie cookies session sessions sessionid login logins sso otp totp
  mnemonic seed seedphrase wallet keystore truststore keyring keychain keytab htpasswd netrc pgpass kubeconfig dsn
  connectionstring storagestate recoverycode recoverycodes backupcode backupcodes vault adminsdk serviceaccount serviceaccountkey rootkey rootkeys env secring
`)

/** Words that say which of several files, or of several secrets, one is. */
const qualifiers = list(`
  prod production dev development stage staging test testing qa uat ci local live real my our new old backup bak orig copy
  save saved tmp temp final default main root admin user users db database app web api server service host deploy release
  shared common private list client state account accounts code codes recovery dump export cache store file data raw b64 base64 plain decrypted dec enc json txt yml yaml
  db prd stg sandbox demo eu us internal external primary secondary hash hashed
`)

/** Whether the last word of a name that isn't a qualifier stands for a secret. */
export function isAboutSecret(name: string): boolean {
  if (name.length > 256) return false
  const words = name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '')
  if (words.length === 1)
    return secretWords.has(words[0] ?? '') || /(?:password|passwd|secret|token|apikey)$/.test(words[0] ?? '')
  // An extension says how a file is written, unless it stands for a secret itself.
  const about = words.findLast((word) => !qualifiers.has(word) && !formats.has(word) && !/^\d+$/.test(word))
  return secretWords.has(about ?? '') || isCompound(words) || words.some((word) => always.has(word))
}

/** Whether two neighbouring words are a secret's name together, as in `storage-state` and `api_keys`. */
function isCompound(words: readonly string[]): boolean {
  return words.some((word, at) => at > 0 && secretWords.has(`${words[at - 1]}${word}`))
}

const formats = list(
  'json json5 jsonc yaml yml toml ini conf cfg config properties xml csv tsv txt text dat bin pickle pkl db sqlite plist',
)
const always = list(
  'secret secrets credential credentials creds passwd apikey apikeys privatekey htpasswd keystore mnemonic',
)
