import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LARGEST_MESSAGE } from '../../policy/mail/recipients.ts';
import type { LinuxLayout } from '../machine/layout.ts';

const PROGRAM = readFileSync(join(import.meta.dirname, 'perl', 'sendmail.pl'), 'utf8');

/** The sendmail of an install, with the path of the install's socket. */
export function sendmailProgram(layout: Pick<LinuxLayout, 'mailSocketOf'>, installId: string): string {
  const socket = layout.mailSocketOf(installId).replace(/[\\']/g, (character) => `\\${character}`);
  return PROGRAM.replace('@SOCKET@', () => socket).replace('@LARGEST@', String(LARGEST_MESSAGE));
}
