import Type from 'typebox';
import { Value } from 'typebox/value';
import { OperatorError } from '../../lib/operator-error.ts';

/** Words by which accounts choose hosts, such as `ssd` or the name of a customer. */
const LABEL = /^[a-z0-9]([a-z0-9.-]{0,38}[a-z0-9])?$/;
const MOST_LABELS = 20;

/** Checks labels, and sorts them without duplicates. Throws OperatorError. */
export function parseLabels(texts: readonly string[]): string[] {
  const labels = [...new Set(texts)].sort();
  const wrong = labels.find((label) => !LABEL.test(label));
  if (wrong !== undefined) {
    throw new OperatorError(
      `"${wrong}" cannot be a label: lower-case letters, digits, dots and hyphens, at most 40.`,
    );
  }
  if (labels.length > MOST_LABELS) throw new OperatorError(`There can be at most ${MOST_LABELS} labels.`);
  return labels;
}

const stored = Type.Array(Type.String());

/** Labels as a row of the database has them. */
export const storedLabels = (value: unknown): string[] => Value.Parse(stored, value);

/** Whether a host takes installs of an account that wants `wanted`. A reserved host takes no others. */
export function takesLabels(
  { labels, reserved }: { labels: readonly string[]; reserved: boolean },
  wanted: readonly string[],
): boolean {
  return wanted.every((label) => labels.includes(label)) && (wanted.length > 0 || !reserved);
}
