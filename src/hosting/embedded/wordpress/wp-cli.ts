import type { InstallRef } from '../../contract/install-ref.ts';
import type { WpCliOutcome } from '../../contract/wp-cli.ts';
import { SEEN } from '../../runtime/wasm/library-script.ts';
import { SQLITE_COMMAND, WP_CLI_PHAR } from '../../runtime/wasm/packaged-copies.ts';
import { PhpFailure, type PhpProgram, type PhpSites } from '../../runtime/wasm/php-sites.ts';
import { NO_INPUT_CODE } from '../../wordpress/wp-cli/no-input.ts';
import { runBounded } from '../../wordpress/wp-cli/run-bounded.ts';
import { createWpCliTurns, type WpCliTurns } from '../../wordpress/wp-cli/turns.ts';
import type { SiteFacts } from './site.ts';
import type { WordPressSites } from './wordpress-sites.ts';

/** Runs WP-CLI in the PHP of websites, one command of each at a time. */
export interface EmbeddedWpCli extends Pick<WpCliTurns, 'whileRefused'> {
  /** See `WpCliRunner`. */
  run(
    install: InstallRef,
    facts: SiteFacts,
    args: readonly string[],
    signal?: AbortSignal,
  ): Promise<WpCliOutcome>;
  /** Ends the command of an install that is removed or set aside. */
  end(installId: string): void;
}

interface EmbeddedWpCliOptions {
  php: Pick<PhpSites, 'runProgram'>;
  siteOf: WordPressSites['siteOf'];
  /** Purges the pages that a command has changed. */
  settle(installId: string): Promise<void>;
}

const REMOVED = 'The website is being removed, so the command was ended.';
const ENDED =
  'The PHP of the website was ended while the command ran, so the command may have done a part of its work. It does not run again.';

export function createEmbeddedWpCli({ php, siteOf, settle }: EmbeddedWpCliOptions): EmbeddedWpCli {
  const turns = createWpCliTurns();
  const running = new Map<string, AbortController>();

  async function run(
    { id }: InstallRef,
    facts: SiteFacts,
    args: readonly string[],
    signal?: AbortSignal,
  ): Promise<WpCliOutcome> {
    const site = await siteOf(id, facts);
    const removal = new AbortController();
    running.set(id, removal);
    try {
      return await runBounded(
        (take) => {
          const killing = new AbortController();
          return {
            ended: php.runProgram(site, programOf(args), take, killing.signal),
            kill: () => killing.abort(new Error('the command was ended')),
          };
        },
        { signal: AbortSignal.any([removal.signal, ...(signal ? [signal] : [])]) },
      );
    } catch (error) {
      if (removal.signal.aborted) return { refused: 'interrupted', reason: REMOVED };
      if (!(error instanceof PhpFailure)) throw error;
      if (error.reason !== 'busy') return { refused: 'interrupted', reason: ENDED };
      return {
        refused: 'website',
        reason: `The command was not run: ${error.message}. Try again in a minute.`,
      };
    } finally {
      running.delete(id);
      await settle(id);
    }
  }

  return {
    run: (install, facts, args, signal) => turns.run(install.id, () => run(install, facts, args, signal)),
    whileRefused: turns.whileRefused,
    end: (installId) => running.get(installId)?.abort(),
  };
}

/** The program of WP-CLI. It runs in the private folder, because the document root is public: exports without a path go there. */
function programOf(args: readonly string[]): PhpProgram {
  return {
    arguments: [
      ...['-d', 'display_errors=stderr'],
      `${SEEN.wpCli}/${WP_CLI_PHAR}`,
      `--path=${SEEN.root}`,
      `--require=${SEEN.scripts}/wp-cli-sqlite.php`,
      ...args,
      // SQLite counts the rows that a statement reads, so the report would be wrong.
      ...(args.find((argument) => !argument.startsWith('-')) === 'search-replace' ? ['--precise'] : []),
    ],
    environment: {
      HOME: SEEN.private,
      HOMEPORT_SQLITE_COMMAND: `${SEEN.wpCli}/${SQLITE_COMMAND}`,
      // Disables the cache, which nothing would limit.
      WP_CLI_CACHE_DIR: '/dev/null',
      // Columns of tables are separated by tabs, as in a pipe.
      SHELL_PIPE: '1',
    },
    folder: SEEN.private,
    prepend: NO_INPUT_CODE,
  };
}
