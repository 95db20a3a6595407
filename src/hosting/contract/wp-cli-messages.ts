import Type from 'typebox';
import { sentences } from './message-values.ts';
import { ARGUMENT_PATTERN, LONGEST_ARGUMENT, MOST_ARGUMENTS, MOST_OUTPUT_BYTES } from './wp-cli.ts';

// Schemas of the messages about WP-CLI (protocol.ts).

export const wpCliArguments = Type.Array(
  Type.String({ maxLength: LONGEST_ARGUMENT, pattern: ARGUMENT_PATTERN }),
  { minItems: 1, maxItems: MOST_ARGUMENTS },
);

/** A byte that is no UTF-8 becomes one character. */
const output = Type.String({ maxLength: MOST_OUTPUT_BYTES });

export const wpCliOutcome = Type.Union([
  Type.Object({
    exitStatus: Type.Integer({ minimum: 0, maximum: 255 }),
    stdout: output,
    stderr: output,
    stdoutTruncated: Type.Boolean(),
    stderrTruncated: Type.Boolean(),
  }),
  Type.Object({
    refused: Type.Union([
      Type.Literal('missing'),
      Type.Literal('website'),
      Type.Literal('interrupted'),
      Type.Literal('time'),
      Type.Literal('output'),
    ]),
    reason: sentences,
  }),
]);

/** The control plane may not choose a path, because root would read it and every website could run it. */
export const wpCliSource = Type.Literal('official');
export const wpCliVersion = Type.String({ pattern: '^\\d[\\w.+-]{0,60}$' });
