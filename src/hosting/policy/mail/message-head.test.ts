import { describe, expect, it } from 'vitest';
import {
  addressesIn,
  completeHead,
  createHeadSearch,
  type MessageHead,
  parseHead,
  renderHead,
} from './message-head.ts';
import { parseAddress } from './recipients.ts';

const added = {
  id: '6f0b9d6e-0000-4000-8000-000000000001',
  install: { name: 'shop' },
  ownDomain: 'shop.sites.example',
  date: new Date('2026-01-31T09:30:05.000Z'),
};

function head(text: string, isWhole = true): MessageHead {
  const parsed = parseHead(Buffer.from(text), isWhole);
  if (parsed === null) throw new Error('the head has not ended');
  return parsed;
}

const rendered = (text: string) =>
  renderHead(completeHead(head(text), added))
    .toString()
    .split('\r\n');

describe('the head of a message', () => {
  it('ends at the empty line, with any line ends', () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const text = `To: a@b.example${end}Subject: x${end} y${end}${end}body${end}`;
      const { fields, length } = head(text);
      expect(fields.map(({ name }) => name)).toEqual(['to', 'subject']);
      expect(text.slice(length)).toBe(`body${end}`);
    }
  });

  it('has not ended before the empty line', () => {
    for (const text of ['', 'To: a@b.example', 'To: a@b.example\r\n', 'To: a@b.example\n\r']) {
      expect(parseHead(Buffer.from(text), false), JSON.stringify(text)).toBeNull();
    }
    expect(head('To: a@b.example').length).toBe('To: a@b.example'.length);
  });

  it.each(['\n\n', '\r\n\r\n', '\r\r', '\n\r\n'])('is found at %j in parts of any size', (end) => {
    const text = `To: a@b.example${end}body`;
    for (const size of [1, 2, 3, 100]) {
      const search = createHeadSearch();
      let read = 0;
      while (read < text.length && !search.add(Buffer.from(text.slice(read, read + size)))) read += size;
      expect(parseHead(Buffer.from(text.slice(0, read + size)), false), String(size)).not.toBeNull();
    }
  });

  it('ends before a line that is no field', () => {
    expect(head('just a text\n')).toEqual({ fields: [], length: 0 });
    expect(head('Subject: x\njust a text\n').length).toBe('Subject: x\n'.length);
    expect(head('From mail Sat Jan 31 09:30:05 2026\nSubject: x\n\n').fields).toHaveLength(1);
  });

  it('names the recipients in To, Cc and Bcc, also folded and in groups', () => {
    const text =
      'To: "Last, First" <a@x.example>,\n\tb@x.example\nCC: team: c@x.example, d@x.example;\nbcc:e@x.example\nReply-To: f@x.example\n\n';
    expect(addressesIn(head(text))).toEqual(['a', 'b', 'c', 'd', 'e'].map((name) => `${name}@x.example`));
  });

  it('loses forged trace fields and Bcc, and gets what it lacks', () => {
    expect(
      rendered(
        'Received: from bank.example\n\tby mx\nReturn-Path: <x@y.example>\nBCC: secret@x.example\nTo: a@x.example\nSubject: Grüße\n\n',
      ),
    ).toEqual([
      'Received: from shop (website)',
      '\tby shop.sites.example (Homeport) with local id 6f0b9d6e-0000-4000-8000-000000000001;',
      '\tSat, 31 Jan 2026 09:30:05 +0000',
      'To: a@x.example',
      'Subject: Grüße',
      'From: shop@shop.sites.example',
      'Date: Sat, 31 Jan 2026 09:30:05 +0000',
      'Message-ID: <6f0b9d6e-0000-4000-8000-000000000001@shop.sites.example>',
      '',
      '',
    ]);
  });

  it('keeps the From, Date and Message-ID of the website', () => {
    const own = ['From: Shop <hello@shop.example>', 'Date: today', 'Message-ID: <1@shop.example>'];
    expect(rendered(`${own.join('\n')}\n\n`).slice(3)).toEqual([...own, '', '']);
  });
});

describe('an address', () => {
  it('has its domain in ASCII and lower case', () => {
    expect(parseAddress("o'neil+shop@Example.COM")).toBe("o'neil+shop@example.com");
    expect(parseAddress('a@bücher.example')).toBe('a@xn--bcher-kva.example');
  });

  it.each([
    '',
    'a',
    '@b.example',
    'a@',
    'a b@c.example',
    'a@b.example>',
    'a@b.example\r\nRCPT TO:<c@d.example>',
    'a\n@b.example',
    '"a b"@c.example',
    'ü@c.example',
    'a@[127.0.0.1]',
    '.a@b.example',
    `${'a'.repeat(65)}@b.example`,
  ])('is not %j', (text) => {
    expect(parseAddress(text)).toBeNull();
  });
});
