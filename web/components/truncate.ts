/** Shortens a text to at most `most` characters, ending with an ellipsis. */
export function truncate(text: string, most: number): string {
  const letters = [...text];
  return letters.length <= most
    ? text
    : `${letters
        .slice(0, most - 1)
        .join('')
        .trimEnd()}…`;
}
