import type { LogKind } from '../../hosting/contract/choices.ts';
import type { LogEntries } from '../../hosting/contract/logs.ts';
import { printable } from '../terminal/output.ts';

const WRITERS: { [Kind in LogKind]: (entry: LogEntries[Kind]) => string } = {
  access: ({ address, method, scheme, host, path, status, bytes, cache, seconds, user_agent }) =>
    `${address} ${method} ${scheme}://${host}${path} ${status} ${bytes} B ${seconds} s ${cache ?? '-'} "${user_agent}"`,
  php: ({ message }) => message,
  cron: ({ exit, seconds, output }) =>
    `exit ${exit ?? 'none: took too long'}, ${seconds} s\n${output}`.trimEnd(),
  mail: ({ id, event, sender, recipients, recipient_count, reason }) => {
    const others = recipient_count - recipients.length;
    const to = `${recipients.join(', ')}${others > 0 ? ` and ${others} others` : ''}`;
    return `${id ?? '-'} ${event} from ${sender} to ${to}${reason === null ? '' : `: ${reason}`}`;
  },
};

/** An entry for people. Its further lines are indented, so that none looks like another entry. */
export function entryText<Kind extends LogKind>(kind: Kind, entry: LogEntries[Kind]): string {
  const [first = '', ...more] = WRITERS[kind](entry).split('\n').map(printable);
  return [`${printable(entry.time)} ${first}`, ...more.map((line) => `    ${line}`)].join('\n');
}
