/** A text of people's own, cut where it would bury what stands around it; whole where it is short enough. */
export function truncate(text: string, most: number): string {
  const letters = [...text];
  return letters.length <= most
    ? text
    : `${letters
        .slice(0, most - 1)
        .join('')
        .trimEnd()}…`;
}
