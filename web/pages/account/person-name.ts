/** Splits "Ann Lee (ann@people.example)" into name and email address; `email` is null without one. */
export function nameAndAddress(written: string): { name: string; email: string | null } {
  const [, name, email] = /^(.+) \(([^\s()]+@[^\s()]+)\)$/.exec(written) ?? [];
  return name !== undefined && email !== undefined ? { name, email } : { name: written, email: null };
}

/** Returns a person's name, or their email address until they have one. */
export function personName(person: { first_name: string; last_name: string; email: string }): string {
  return `${person.first_name} ${person.last_name}`.trim() || person.email;
}
