import type { BackupStatus } from '../../database/tables/backups.ts';
import type { MailText } from '../../mail/mailer.ts';

interface FinishedBackup {
  id: string;
  install_name: string;
  description: string;
  status: BackupStatus;
  bytes: number | null;
  files: number | null;
  reason: string | null;
  finished_at: string | null;
}

/** Limits on a description, and on a reason with its file and line, in a mail, in characters. */
const MOST_SHOWN = 200;
const MOST_OF_REASON = 500;

/** Reduces a description to one line. Recipients may not know its author, so it must not pass as text by Homeport. */
function onOneLine(text: string, most = MOST_SHOWN): string {
  const characters = [...text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()];
  const shown = characters.length <= most ? characters : [...characters.slice(0, most - 1), '…'];
  return shown.join('');
}

/** The mail to `notification_emails`. */
export function backupMail(backup: FinishedBackup): MailText {
  const lines = [
    `Install:      ${backup.install_name}`,
    `Backup:       ${backup.id}`,
    `Description:  ${onOneLine(backup.description)}`,
    `Finished:     ${backup.finished_at ?? ''}`,
  ];
  if (backup.status === 'completed') {
    return {
      subject: `Backup of ${backup.install_name} completed`,
      text: [
        'The backup is complete. Homeport read back what it stored, and every checksum matched.',
        '',
        ...lines,
        `Files:        ${backup.files ?? 0}`,
        `Size:         ${backup.bytes ?? 0} bytes`,
        '',
      ].join('\n'),
    };
  }
  return {
    subject: `Backup of ${backup.install_name} aborted`,
    text: [
      'The backup could not be made. Nothing of it is kept; earlier backups are not affected.',
      '',
      ...lines,
      `Reason:       ${backup.reason ?? 'unknown'}`,
      '',
    ].join('\n'),
  };
}

/** The mail to `notification_emails` about a restore or a copy. */
export function restoreMail(outcome: {
  install: string;
  work: 'restore' | 'copy' | 'import';
  reason: string | null;
  warning?: string | undefined;
  finished_at: string;
}): MailText {
  const { install, work, reason, warning, finished_at } = outcome;
  const subject = {
    restore: `Restore of ${install}`,
    copy: `Copy into ${install}`,
    import: `Import into ${install}`,
  }[work];
  const lines = [`Install:      ${install}`, `Finished:     ${finished_at}`];
  if (reason === null) {
    return {
      subject: `${subject} completed`,
      text: [
        'The website has been replaced.',
        '',
        ...lines,
        ...(warning === undefined ? [] : [`Warning:      ${onOneLine(warning, MOST_OF_REASON)}`]),
        '',
      ].join('\n'),
    };
  }
  return {
    subject: `${subject} failed`,
    text: [
      'The website could not be replaced.',
      '',
      ...lines,
      `Reason:       ${onOneLine(reason, MOST_OF_REASON)}`,
      '',
    ].join('\n'),
  };
}

/** The mail to `notification_emails` about an archive. The link stays in the portal and the API: recipients may be strangers. */
export function archiveMail(archive: {
  install_name: string;
  backup_id: string;
  state: BackupStatus;
  bytes: number | null;
  reason: string | null;
  expires_at: string | null;
}): MailText {
  const lines = [`Install:      ${archive.install_name}`, `Backup:       ${archive.backup_id}`];
  if (archive.state === 'completed') {
    return {
      subject: `Archive of ${archive.install_name} is ready`,
      text: [
        'The backup is packed for download. Download it from the backups of the install in the portal.',
        '',
        ...lines,
        `Size:         ${archive.bytes ?? 0} bytes`,
        `Until:        ${archive.expires_at ?? ''}`,
        '',
      ].join('\n'),
    };
  }
  return {
    subject: `Archive of ${archive.install_name} could not be made`,
    text: [
      'The backup could not be packed for download. The backup itself is not affected.',
      '',
      ...lines,
      `Reason:       ${onOneLine(archive.reason ?? 'unknown')}`,
      '',
    ].join('\n'),
  };
}
