/** Options with a value, in the same argument or the next one. The host sets the envelope sender, and ignores the others. */
const WITH_VALUE = new Set('frFBNRVXhOpC');

/** The recipients in the arguments of sendmail(8), unchecked, and whether those in the head of the message count (`-t`). */
export function sendmailRecipients(given: readonly string[]): { fromHead: boolean; recipients: string[] } {
  const recipients: string[] = [];
  let fromHead = false;
  for (let at = 0; at < given.length; at++) {
    const argument = given[at] ?? '';
    if (argument === '--') {
      recipients.push(...given.slice(at + 1));
      break;
    }
    if (!/^-./s.test(argument)) {
      recipients.push(argument);
      continue;
    }
    const option = argument.charAt(1);
    if (option === 'o') fromHead ||= argument === '-ot';
    else if (!WITH_VALUE.has(option)) fromHead ||= argument.includes('t');
    else if (argument.length === 2) at++;
  }
  return {
    fromHead,
    recipients: recipients.flatMap((text) => text.split(/\s*,\s*/)).filter((text) => text !== ''),
  };
}
