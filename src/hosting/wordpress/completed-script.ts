/** The line that a script prints when it has done everything. */
const COMPLETED = '{"completed":true}';

/**
 * Returns the output of a script that completed; null if it ended early. The exit status does not tell: WordPress and its drop-ins end with
 * status 0 after an error page. The website's own code may print other lines, even after the last one.
 */
export function outputOfCompleted(output: string): string | null {
  const lines = output.split('\n');
  const end = lines.lastIndexOf(COMPLETED);
  return end === -1 ? null : lines.slice(0, end).join('\n').trim();
}
