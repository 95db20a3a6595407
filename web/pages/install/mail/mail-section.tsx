import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type BodyOf, type HostingPaths, hosting } from '../../../api/client.ts';
import { unwrap, unwrapStarted } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import { TextField } from '../../../components/fields.tsx';
import { Form } from '../../../components/form.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Notice } from '../../../components/notice.tsx';
import { Facts, MainSection, Section } from '../../../components/page.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { Time } from '../../../components/time.tsx';
import { showOperation } from '../../../components/toast.tsx';
import { useDraft } from '../../../components/use-draft.ts';
import { useMay } from '../../../session/session.ts';
import { WhyNotOffered } from '../offered.tsx';

/** The mail that the website of an install sends, and its limit. */
export function MailSection({ install }: { install: Install }) {
  return (
    <MainSection>
      <WebsiteMail install={install} />
    </MainSection>
  );
}

function WebsiteMail({ install }: { install: Install }) {
  const mayWork = useMay(install.account.id)('install.work');
  const params = { path: { install_id: install.id } };
  const query = useQuery({
    queryKey: ['install', install.id, 'mail'],
    queryFn: () => unwrap(hosting.GET('/installs/{install_id}/mail', { params })),
  });

  return (
    <Loaded query={query} what="the mail of the website">
      {(mail) => (
        <>
          {!mail.can_send && (
            <Notice tone="bad">
              <WhyNotOffered installId={install.id} need="mail" />
              <p>Until then, an SMTP plugin can send the mail of WordPress.</p>
            </Notice>
          )}
          <Facts
            facts={[
              ['Sent in the last hour', `${mail.sent_last_hour} of ${mail.limit_per_hour} recipients`],
              ['Waiting', mail.queued === 1 ? '1 message' : `${mail.queued} messages`],
              ['Bounces go to', <code key="sender">{mail.sender}</code>],
            ]}
          />
          {mayWork && <MailLimit installId={install.id} mail={mail} />}
          {mail.last_refused !== null && mail.last_refused.length > 0 && (
            <RefusedMail messages={mail.last_refused} />
          )}
        </>
      )}
    </Loaded>
  );
}

type Mail = BodyOf<HostingPaths['/installs/{install_id}/mail']['get']>;
type Refused = NonNullable<Mail['last_refused']>[number];

function MailLimit({ installId, mail }: { installId: string; mail: Mail }) {
  const queries = useQueryClient();
  const path = { install_id: installId };
  const draft = useDraft({
    resource: mail,
    fieldsOf: ({ limit_per_hour }) => ({ limit_per_hour: String(limit_per_hour) }),
    read: () => hosting.GET('/installs/{install_id}/mail', { params: { path } }),
    async save({ limit_per_hour = '' }, header) {
      const operationId = await unwrapStarted(
        hosting.PATCH('/installs/{install_id}/mail', {
          params: { path, header },
          body: { limit_per_hour: limit_per_hour === '' ? null : Number(limit_per_hour) },
        }),
      );
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['install', installId, 'mail'] }),
        queries.invalidateQueries({ queryKey: ['operation', installId] }),
      ]);
      showOperation(operationId, {
        busy: 'Changing the mail limit.',
        done: 'The mail limit was changed.',
      });
    },
  });
  return (
    <Form draft={draft} submitLabel="Change limit">
      <TextField
        label="Recipients per hour"
        type="number"
        min={0}
        max={mail.most_per_hour}
        step={1}
        hint={`At most ${mail.most_per_hour}. Enter 0 to switch mail off. Leave it empty for the highest limit.`}
        {...draft.field('limit_per_hour')}
      />
    </Form>
  );
}

/** Why the last messages of the website reached no one. */
function RefusedMail({ messages }: { messages: readonly Refused[] }) {
  const columns: Column<Refused & { key: string }>[] = [
    { id: 'time', header: 'Time', cell: ({ refused_at }) => <Time at={refused_at} exact /> },
    { id: 'reason', header: 'Reason', rowHeader: true, cell: ({ reason }) => reason },
    { id: 'recipients', header: 'Recipients', cell: ({ recipients }) => recipients.join(', ') },
  ];
  return (
    <Section title="Refused messages">
      <Table
        caption="The last messages that were refused"
        columns={columns}
        rows={messages.map((message, at) => ({ ...message, key: `${message.refused_at} ${at}` }))}
        rowKey={({ key }) => key}
      />
    </Section>
  );
}
