import Type, { type Static } from 'typebox';
import type { InstallRef } from './install-ref.ts';
import { sentences } from './message-values.ts';

/** Runs WP-CLI in websites. */
export interface WpCliRunner {
  /**
   * Runs one WP-CLI command as the install's user in its sandbox, and waits for its end. A command is not idempotent, so callers must
   * never repeat a call. Aborting the signal ends the command with all its processes.
   */
  runWpCli(install: InstallRef, args: readonly string[], signal?: AbortSignal): Promise<WpCliOutcome>;
}

/** The part of each output that is kept, in bytes. */
export const MOST_OUTPUT_BYTES = 256 * 1024;
/** Limits of the arguments. The kernel itself allows 128 KiB for one. */
export const MOST_ARGUMENTS = 200;
export const LONGEST_ARGUMENT = 16_384;
export const MOST_ARGUMENT_BYTES = 128 * 1024;
/** Without NUL, which no argument of a program can contain. */
export const ARGUMENT_PATTERN = '^[^\\u0000]*$';

/** Seconds until the host ends a command. */
export const WP_CLI_SECONDS = 600;

/** Arguments of one command. */
export const WpCliArgumentsSchema = Type.Array(
  Type.String({ maxLength: LONGEST_ARGUMENT, pattern: ARGUMENT_PATTERN }),
  { minItems: 1, maxItems: MOST_ARGUMENTS },
);

/** A byte that is no UTF-8 becomes one character. */
const output = Type.String({ maxLength: MOST_OUTPUT_BYTES });

/** A command that ran. Outputs are cut at {@link MOST_OUTPUT_BYTES}. */
export const WpCliResultSchema = Type.Object({
  /** 128 and the signal's number if a signal ended it, as shells report it. */
  exitStatus: Type.Integer({ minimum: 0, maximum: 255 }),
  stdout: output,
  stderr: output,
  stdoutTruncated: Type.Boolean(),
  stderrTruncated: Type.Boolean(),
});
export type WpCliResult = Static<typeof WpCliResultSchema>;

/** A command that did not run, or that was ended before it was done. */
export const WpCliRefusedSchema = Type.Object({
  /**
   * `missing`: the machine has no WP-CLI; `website`: a static website, or one that cannot run a command now; `interrupted`: the website's PHP
   * ended; the others: the host ended the command.
   */
  refused: Type.Enum(['missing', 'website', 'interrupted', 'time', 'output']),
  /** In one or two sentences, for the website's owner. */
  reason: sentences,
});
export type WpCliRefused = Static<typeof WpCliRefusedSchema>;

export type WpCliOutcome = WpCliResult | WpCliRefused;

/** Where WP-CLI may come from. The control plane may not choose a path, because root would read it and every website could run it. */
export const WpCliSourceSchema = Type.Literal('official');
export const WpCliVersionSchema = Type.String({ pattern: '^\\d[\\w.+-]{0,60}$' });
