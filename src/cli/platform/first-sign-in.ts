import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { FirstOwner } from '../../app/first-start.ts';
import type { Config } from '../../config/config.ts';
import { writeDurably } from '../../lib/durable-file.ts';
import { curlLine } from '../terminal/curl-line.ts';
import { alignedPairs, heading } from '../terminal/output.ts';

/**
 * Output of the first start about its owner. The secrets go into a file that only this user can read, and the text names it. A terminal
 * shows them, too; other output may end up in a log.
 */
export async function firstSignIn(
  config: Parameters<typeof curlLine>[0] & Pick<Config, 'dataDir'>,
  owner: FirstOwner,
  { onTerminal }: { onTerminal: boolean },
): Promise<string> {
  const secrets = secretsOf(config, owner);
  const file = firstSignInFile(config);
  await writeDurably(file, stripVTControlCharacters(secrets));
  if (onTerminal) return `${secrets}\nAll of this is also in ${file}. Delete the file after reading it.\n`;
  return [
    heading('Sign in for the first time'),
    alignedPairs([
      ['Sign in as', owner.email],
      ['Secrets in', file],
    ]),
    'Delete the file after reading it. It contains a link to set your password and credentials for the API.\n',
  ].join('\n');
}

/** File with the secrets of the first owner. */
export function firstSignInFile({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'first-sign-in.txt');
}

function secretsOf(config: Parameters<typeof curlLine>[0], owner: FirstOwner): string {
  const { username, password } = owner.credential;
  return [
    heading('Set your password for the portal (the link works once, for 7 days)'),
    alignedPairs([
      ['Sign in as', owner.email],
      ['Open', owner.passwordLink],
    ]),
    heading('Your credentials for the API (shown only now)'),
    alignedPairs([
      ['Username', username],
      ['Password', password],
      ['Account', owner.accountId],
    ]),
    heading('Try it'),
    `  ${curlLine(config, owner.credential)}\n`,
  ].join('\n');
}
