import { printable } from '../terminal/output.ts';

/** Fields that each line has. */
const OF_EACH_LINE = new Set(['level', 'time', 'pid', 'hostname', 'msg']);

/** A line of the log as one line of a terminal: the message, the reason, and the words and numbers that it is about. No stack. */
export function terminalLine(line: Record<string, unknown>): string {
  const { msg, err } = line;
  const reason: unknown = Reflect.get(Object(err), 'message');
  const about = Object.entries(line)
    .filter(([name, value]) => !OF_EACH_LINE.has(name) && /^(string|number|boolean)$/.test(typeof value))
    .map(([name, value]) => `${name}: ${value}`);
  const sentence = [msg, reason].filter((part) => typeof part === 'string' && part !== '').join(': ');
  return printable(about.length === 0 ? sentence : `${sentence} (${about.join(', ')})`);
}
