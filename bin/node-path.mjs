// Prints the path of the Node that runs Homeport, for `bin/node`.
import { findNode } from './find-node.mjs';

try {
  process.stdout.write(`${findNode()}\n`);
} catch (error) {
  process.stderr.write(`homeport: ${error.message}\n`);
  process.exitCode = 1;
}
