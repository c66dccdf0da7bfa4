/**
 * A separate process that stores images without end and prints the name of each acknowledged one.
 */
import { ImageFolder } from '../../../src/api/images/folder.ts';
import { png } from './samples.ts';

const folder = new ImageFolder(process.argv[2] ?? '');
for (let at = 1; ; at += 1) {
  const cid = await folder.put(png(at, 1, Buffer.alloc(200_000, `image ${at}`)), 'image/png');
  process.stdout.write(`${String(cid)}\n`);
}
