import { Compile } from 'typebox/compile';
import type { LogKind } from '../../../hosting/contract/choices.ts';
import type { LogEntries } from '../../../hosting/contract/logs.ts';
import { accessEntrySchema, cronEntrySchema, mailEntrySchema, phpEntrySchema } from './schema.ts';

const access = Compile(accessEntrySchema);
const php = Compile(phpEntrySchema);
const cron = Compile(cronEntrySchema);
const mail = Compile(mailEntrySchema);

const CHECKS: { [Kind in LogKind]: (value: unknown) => value is LogEntries[Kind] } = {
  access: (value) => access.Check(value),
  php: (value) => php.Check(value),
  cron: (value) => cron.Check(value),
  mail: (value) => mail.Check(value),
};

/** The entries of lines from a host, which may be compromised. Lines of other shapes are left out. */
export function parseEntries<Kind extends LogKind>(kind: Kind, lines: readonly string[]): LogEntries[Kind][] {
  const isEntry = CHECKS[kind];
  return lines.flatMap((line) => {
    const value = parsed(line);
    return isEntry(value) ? [value] : [];
  });
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
