import type { DnsAnswer } from './client.ts';
import { isAskable } from './domain-name.ts';
import type { DnsRecord } from './record.ts';

/** Resolvers give up after about as many: unbound after 11, BIND after 16. */
export const LONGEST_CHAIN = 10;

/** The CNAMEs of a name, followed to their end. */
export interface CnameChain {
  /** The CNAME records, in order. */
  cnames: Extract<DnsRecord, { type: 'CNAME' | 'NS' }>[];
  /** The name at the end; the name itself without a CNAME. */
  end: string;
  /** The names of a loop; else null. */
  loop: string[] | null;
  /** Whether the chain is longer than {@link LONGEST_CHAIN} and was not followed to its end. */
  isTooLong: boolean;
  /** The answer that contains the end of the chain. */
  answer: DnsAnswer;
}

/** Follows CNAMEs through an answer. Sends further queries if the answer ends before the chain. */
export async function followCnames(
  name: string,
  ask: (name: string) => Promise<DnsAnswer>,
): Promise<CnameChain> {
  const cnames: CnameChain['cnames'] = [];
  const names = [name];
  let end = name;
  let asked = name;
  let answer = await ask(name);
  while (true) {
    const cname = cnameOf(answer, end);
    if (cname !== null) {
      cnames.push(cname);
      end = cname.target;
      const isLoop = names.includes(end);
      names.push(end);
      if (isLoop) return { cnames, end, loop: names, isTooLong: false, answer };
      if (cnames.length > LONGEST_CHAIN) return { cnames, end, loop: null, isTooLong: true, answer };
    } else if (asked === end || answer.rcode !== 'NOERROR' || holds(answer, end) || !isAskable(end)) {
      return { cnames, end, loop: null, isTooLong: false, answer };
    } else {
      asked = end;
      answer = await ask(end);
    }
  }
}

function holds(answer: DnsAnswer, name: string): boolean {
  return answer.answers.some(({ hdr }) => hdr.name === name);
}

/** The CNAME record of exactly this name in an answer, or null. */
export function cnameOf(answer: DnsAnswer, name: string): CnameChain['cnames'][number] | null {
  for (const record of answer.answers) {
    if (record.type === 'CNAME' && record.hdr.name === name) return record;
  }
  return null;
}
