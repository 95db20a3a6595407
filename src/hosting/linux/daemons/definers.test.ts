import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { withoutDefiners } from './definers.ts';

const DUMP = `/*!50001 CREATE ALGORITHM=UNDEFINED */
/*!50013 DEFINER=\`shop\`@\`localhost\` SQL SECURITY DEFINER */
/*!50001 VIEW \`v\` AS select 1 */;
/*!50003 CREATE*/ /*!50017 DEFINER=\`shop\`@\`localhost\`*/ /*!50003 trigger t before insert on x */;;
/*!50106 CREATE*/ /*!50117 DEFINER=\`shop\`@\`%\`*/ /*!50106 EVENT e */ ;;
CREATE DEFINER=\`shop\`@\`localhost\` PROCEDURE p() DO 1 ;;
INSERT INTO x VALUES ('CREATE DEFINER=\`shop\`@\`localhost\` PROCEDURE');
 CREATE DEFINER=\`not\`@\`begin\` of a line
last line without an end, CREATE DEFINER`;

const EXPECTED = `/*!50001 CREATE ALGORITHM=UNDEFINED */
/*!50013 SQL SECURITY DEFINER */
/*!50001 VIEW \`v\` AS select 1 */;
/*!50003 CREATE*/ /*!50017*/ /*!50003 trigger t before insert on x */;;
/*!50106 CREATE*/ /*!50117*/ /*!50106 EVENT e */ ;;
CREATE PROCEDURE p() DO 1 ;;
INSERT INTO x VALUES ('CREATE DEFINER=\`shop\`@\`localhost\` PROCEDURE');
 CREATE DEFINER=\`not\`@\`begin\` of a line
last line without an end, CREATE DEFINER`;

async function strip(chunks: Buffer[]): Promise<Buffer> {
  return Buffer.concat(await Readable.from(chunks).pipe(withoutDefiners()).toArray());
}

test.each([1, 2, 7, 64, 10_000])('removes definers from a dump in chunks of %i bytes', async (size) => {
  const bytes = Buffer.from(DUMP);
  const chunks = [];
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
  expect((await strip(chunks)).toString()).toBe(EXPECTED);
});

test('preserves all other bytes, in long lines too', async () => {
  const bytes = Buffer.concat([
    Buffer.from([0, 255, 10, 254]),
    Buffer.alloc(200_000, 'x'),
    Buffer.from('\n\n'),
  ]);
  const chunks = [bytes.subarray(0, 70_000), bytes.subarray(70_000)];
  expect(await strip(chunks)).toEqual(bytes);
  expect(await strip([])).toEqual(Buffer.alloc(0));
});
