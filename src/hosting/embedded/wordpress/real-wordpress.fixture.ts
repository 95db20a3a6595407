import { pino } from 'pino';
import { inject } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../../lib/durations.ts';
import { systemRandomness } from '../../../lib/ids.ts';
import { PHP_RANGES } from '../../policy/php-limits.ts';
import { wasmPhpBounds } from '../../policy/wasm-php-limits.ts';
import { THIS_PHP } from '../../runtime/machine/machine.fixture.ts';
import { createPhpSites } from '../../runtime/wasm/create-php-sites.ts';
import { TESTS_CODE } from '../../runtime/wasm/kept-code.fixture.ts';
import { providePhpMyAdmin, provideSqlitePlugin, provideWpCli } from '../../runtime/wasm/packaged-copies.ts';
import type { OtherPhp } from '../../runtime/wasm/php-engine.ts';
import type { PhpSitesOptions } from '../../runtime/wasm/php-sites.ts';
import { requirePackagedFiles } from '../../wordpress/packaged-files.ts';
import type { WordPressSettings } from '../host-options.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The PHP of the project's tests, as in `HOMEPORT_EMBEDDED_PHP`. */
    embeddedPhp?: 'machine';
    /** Whether quick tests of websites use the PHP of the machine, which takes half of the processor time. */
    hasMachinePhp?: boolean;
  }
}

/** The PHP of tests of what websites do, whatever runs PHP: as the tests of the project want it, or the cheaper one. */
export const usesMachinePhp = (): boolean =>
  inject('embeddedPhp') === 'machine' || inject('hasMachinePhp') === true;

/** Real PHP, which stays while a test runs. `other`: by default as the tests of the project want it. */
export const realPhpThat =
  (
    changes: Pick<PhpSitesOptions, 'mayConnect'>,
    other: OtherPhp | null = inject('embeddedPhp') === 'machine' ? THIS_PHP : null,
  ): WordPressSettings['createPhp'] =>
  (given) =>
    createPhpSites(
      {
        ...given,
        codeFolder: TESTS_CODE,
        idleMs: HOUR_MS,
        memoryMb: 1_000,
        waitMs: MINUTE_MS,
        spare: false,
        log: pino({ level: 'silent' }),
        ...changes,
      },
      other,
    );

/** Real PHP that reaches no network, in tests of what websites do. */
export const cheapestPhp: WordPressSettings['createPhp'] = (given) =>
  realPhpThat({ mayConnect: () => false }, usesMachinePhp() ? THIS_PHP : null)(given);

/** Real PHP that reaches no network. */
export const realPhp = realPhpThat({ mayConnect: () => false });

/** The packaged WordPress with real PHP, SQLite and WP-CLI. Mail is dropped. */
export function realWordPress(parts: Partial<WordPressSettings> = {}): WordPressSettings {
  return {
    source: requirePackagedFiles().wordpress,
    url: 'http://127.0.0.1:1',
    releasesUrl: null,
    createPhp: realPhp,
    sqlitePlugin: provideSqlitePlugin,
    wpCli: provideWpCli,
    phpMyAdmin: providePhpMyAdmin,
    mail: mailThatGoes(async () => {}),
    phpBounds: wasmPhpBounds(PHP_RANGES, 1_000),
    randomness: systemRandomness,
    ...parts,
  };
}

/** The mail settings of a platform with a mail server. */
export function mailThatGoes(send: WordPressSettings['mail']['send']): WordPressSettings['mail'] {
  return {
    senderOf: () => 'homeport@provider.test',
    platformAddress: 'homeport@provider.test',
    portalHost: 'portal.provider.test',
    perHour: 10,
    hasServer: true,
    send,
  };
}
