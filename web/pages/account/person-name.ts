/** A person as the activity names them, "Ann Lee (ann@people.example)", apart; `email`: null where there is none. */
export function nameAndAddress(written: string): { name: string; email: string | null } {
  const [, name, email] = /^(.+) \(([^\s()]+@[^\s()]+)\)$/.exec(written) ?? [];
  return name !== undefined && email !== undefined ? { name, email } : { name: written, email: null };
}

/** What a person is called: their name, or the address where they have none yet. */
export function personName(person: { first_name: string; last_name: string; email: string }): string {
  return `${person.first_name} ${person.last_name}`.trim() || person.email;
}
