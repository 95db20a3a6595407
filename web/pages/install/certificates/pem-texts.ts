import type { FieldError } from '../../../api/failure.ts';

/** The texts of the upload form, by field. */
export interface PemTexts {
  /** The server certificate, and the chain if the file has both. */
  certificate: string;
  /** The intermediate certificates; may be empty. */
  chain: string;
  private_key: string;
}

/** The most characters that the server accepts, for certificate and chain together and for the key. */
export const LONGEST_CHAIN = 100_000;
export const LONGEST_KEY = 20_000;

const KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----/;
const CERTIFICATE = /-----BEGIN (X509 )?CERTIFICATE-----/g;
const CONTAINS_KEY = 'This field contains a private key. It was not sent. Move it to the private key field.';

/** Returns the sentence for a text or file that is not PEM. `what`: "This text", "server.pfx". */
export function notPem(what: string): string {
  return `${what} is not PEM. A PEM text begins with -----BEGIN. Convert other formats with openssl, for example a .pfx file with "openssl pkcs12 -in FILE -nodes".`;
}

const tooLong = (most: number) =>
  `This text is too long. At most ${most.toLocaleString('en')} characters are allowed.`;

/** Returns the errors that only the browser can assign to a field. All other checks are the server's. */
export function pemErrors({ certificate, chain, private_key }: PemTexts): FieldError[] {
  const error = (field: keyof PemTexts, message: string) => [{ field, message }];
  const shape = (field: 'certificate' | 'chain', text: string) => {
    if (KEY.test(text)) return error(field, CONTAINS_KEY);
    return text.trim() === '' || text.includes('-----BEGIN ') ? [] : error(field, notPem('This text'));
  };
  const longer = chain.length > certificate.length ? 'chain' : 'certificate';
  return [
    ...shape('certificate', certificate),
    ...shape('chain', chain),
    ...(certificate.length + chain.length >= LONGEST_CHAIN ? error(longer, tooLong(LONGEST_CHAIN)) : []),
    ...(private_key.includes('-----BEGIN ') ? [] : error('private_key', notPem('This text'))),
    ...(private_key.length > LONGEST_KEY ? error('private_key', tooLong(LONGEST_KEY)) : []),
  ];
}

/** Joins the certificate and its chain, as the server expects them. */
export function joinChain({ certificate, chain }: PemTexts): string {
  return chain.trim() === '' ? certificate : `${certificate.trimEnd()}\n${chain}`;
}

/** Errors that concern several certificates, or one that is not the server's. */
const OF_CHAIN = ['incomplete_chain', 'wrong_order', 'not_an_authority', 'path_too_long'];

/** Returns the field that a server error concerns. The server sees certificate and chain as one text. */
export function fieldOfError({ field, code, message }: FieldError, texts: PemTexts): string {
  if (field !== 'certificate') return field;
  const hasChain = texts.chain.trim() !== '';
  if (code !== undefined && OF_CHAIN.includes(code)) {
    const isAlone = (texts.certificate.match(CERTIFICATE)?.length ?? 0) <= 1;
    return hasChain || isAlone ? 'chain' : 'certificate';
  }
  return hasChain && message.startsWith('The intermediate certificate') ? 'chain' : 'certificate';
}
