/** `node test/sandbox/races/main.ts BACKEND TRIES`: runs the races as this user and prints the outcomes as JSON. */
import process from 'node:process'
import { runRaces } from './races.ts'

const [, , backend, tries] = process.argv
process.stdout.write(JSON.stringify(await runRaces(backend === 'docker' ? 'docker' : 'bubblewrap', Number(tries))))
