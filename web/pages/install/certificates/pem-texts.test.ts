import { describe, expect, it } from 'vitest';
import { fieldOfError, joinChain, pemErrors } from './pem-texts.ts';

const pem = (label: string) => `-----BEGIN ${label}-----\nMIIB\n-----END ${label}-----\n`;
const good = { certificate: pem('CERTIFICATE'), chain: '', private_key: pem('PRIVATE KEY') };
const fieldsOf = (texts: Partial<typeof good>) => pemErrors({ ...good, ...texts }).map(({ field }) => field);

describe('the texts of an upload', () => {
  it('are sent if they are PEM', () => {
    expect(pemErrors(good)).toEqual([]);
    expect(pemErrors({ ...good, private_key: pem('EC PRIVATE KEY') })).toEqual([]);
  });

  it('are not sent with a key in another field', () => {
    expect(fieldsOf({ certificate: good.certificate + good.private_key })).toEqual(['certificate']);
    expect(fieldsOf({ chain: pem('RSA PRIVATE KEY') })).toEqual(['chain']);
  });

  it('are not sent without PEM, or if they are too long', () => {
    expect(fieldsOf({ certificate: 'MIIB', chain: 'x', private_key: 'y' })).toEqual([
      'certificate',
      'chain',
      'private_key',
    ]);
    expect(fieldsOf({ chain: good.certificate.padEnd(100_001) })).toEqual(['chain']);
    expect(fieldsOf({ private_key: good.private_key.padEnd(20_001) })).toEqual(['private_key']);
  });

  it('are joined with the certificate first', () => {
    expect(joinChain(good)).toBe(good.certificate);
    expect(joinChain({ ...good, certificate: 'a\n\n', chain: 'b' })).toBe('a\nb');
  });
});

describe('a server error', () => {
  const at = (code: string, chain: string, certificate = good.certificate, message = 'x') =>
    fieldOfError({ field: 'certificate', code, message }, { ...good, certificate, chain });

  it('of the order or completeness concerns the chain, unless the certificate field has it', () => {
    expect(at('incomplete_chain', '')).toBe('chain');
    expect(at('wrong_order', good.certificate)).toBe('chain');
    expect(at('path_too_long', good.certificate)).toBe('chain');
    expect(at('not_an_authority', good.certificate)).toBe('chain');
    expect(at('wrong_order', '', good.certificate + good.certificate)).toBe('certificate');
  });

  it('of an intermediate certificate concerns the chain', () => {
    const message = 'The intermediate certificate "R3" expired on 2026-01-01.';
    expect(at('expired', good.certificate, good.certificate, message)).toBe('chain');
    expect(at('expired', '', good.certificate + good.certificate, message)).toBe('certificate');
    expect(at('covers_no_domain', good.certificate)).toBe('certificate');
  });

  it('of the key keeps its field', () => {
    expect(fieldOfError({ field: 'private_key', code: 'key_mismatch', message: 'x' }, good)).toBe(
      'private_key',
    );
  });
});
