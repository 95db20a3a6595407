import { markdownTable, withTable } from '../../lib/document-table.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../lib/durations.ts';
import type { Route } from '../contract/command.ts';
import { COMMAND_NAMES, COMMAND_OF } from '../contract/host-methods.ts';

const SENT_TO: Record<Route, string> = {
  website: 'the host of the install',
  keeper: 'the host that had the deleted install',
  host: 'a host that the caller names',
  own: 'see `fleet.ts`',
};

/** `90 s`, `6 h`: in the largest unit that is whole. */
function shown(ms: number): string {
  const [unit, length] = (
    [
      ['h', HOUR_MS],
      ['min', MINUTE_MS],
    ] as const
  ).find(([, one]) => ms % one === 0) ?? ['s', SECOND_MS];
  return `${ms / length} ${unit}`;
}

/** The commands of hosts as a Markdown table. */
const commandsTable = (): string =>
  markdownTable(
    ['Command', 'Fields', 'Sent to', 'At most', 'Notes'],
    COMMAND_NAMES.map((name) => {
      const command = COMMAND_OF[name];
      const notes = [
        command.reportsProgress ? 'reports progress' : command.isCancellable ? 'ends on disconnect' : null,
        command.isUnrepeatable ? 'never repeated' : null,
        command.isIdleTalk ? 'not logged' : null,
      ];
      return [
        `\`${command.name}\``,
        command.fields.map((field) => `\`${field}\``).join(', '),
        SENT_TO[command.route],
        shown(command.withinMs),
        notes.filter((note) => note !== null).join(', '),
      ];
    }),
  );

/** Returns the document with the current table between the markers `commands`. */
export const withCommandsTable = (document: string): string =>
  withTable(document, 'commands', commandsTable());
