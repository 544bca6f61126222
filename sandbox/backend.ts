/** What confines. `external` confines as little as `unconfined`: somebody states that what is outside is the sandbox. */
export type Backend = 'bubblewrap' | 'docker' | 'seatbelt' | 'unconfined' | 'external'
