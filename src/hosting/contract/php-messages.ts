import Type from 'typebox';
import { LEAST_PHP, MOST_PHP, type PhpLimit } from '../../lib/php-limits.ts';

// Schemas of the messages about PHP (protocol.ts). The bounds are those of the contract, because the host may be compromised.

const closed = { additionalProperties: false };
const wanted = (limit: PhpLimit) =>
  Type.Union([Type.Integer({ minimum: LEAST_PHP[limit], maximum: MOST_PHP[limit] }), Type.Null()]);
const told = (limit: PhpLimit) => Type.Integer({ minimum: 1, maximum: MOST_PHP[limit] });

export const phpLimits = Type.Object(
  {
    memoryMb: wanted('memoryMb'),
    uploadMb: wanted('uploadMb'),
    seconds: wanted('seconds'),
    workers: wanted('workers'),
    inputVars: wanted('inputVars'),
  },
  closed,
);

const standard = {
  memoryMb: told('memoryMb'),
  uploadMb: told('uploadMb'),
  seconds: told('seconds'),
  inputVars: told('inputVars'),
};

export const phpBounds = Type.Object({
  standard: Type.Object({ ...standard, workers: Type.Optional(told('workers')) }),
  most: Type.Object({ ...standard, workers: told('workers') }),
  installMemoryMb: Type.Integer({ minimum: 1, maximum: 1_048_576 }),
  workerMb: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_048_576 })),
});
