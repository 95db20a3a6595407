/** What a person is called: their name, or the address where they have none yet. */
export function nameOf(person: { first_name: string; last_name: string; email: string }): string {
  return `${person.first_name} ${person.last_name}`.trim() || person.email;
}
