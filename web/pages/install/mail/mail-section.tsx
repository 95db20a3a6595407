import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type BodyOf, type HostingPaths, hosting } from '../../../api/client.ts';
import { unwrap, unwrapStarted } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import { TextField } from '../../../components/fields.tsx';
import { Form, textOf } from '../../../components/form.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Notice } from '../../../components/notice.tsx';
import { Empty, Facts, MainSection, Section } from '../../../components/page.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { Time } from '../../../components/time.tsx';
import { showOperation } from '../../../components/toast.tsx';
import { useMay } from '../../../session/session.ts';

/** The mail that the website of an install sends, and its limit. */
export function MailSection({ install }: { install: Install }) {
  return (
    <MainSection>
      {install.php_version === null || install.status !== 'active' ? (
        <Empty>This website sends no mail.</Empty>
      ) : (
        <WebsiteMail install={install} />
      )}
    </MainSection>
  );
}

type Refused = NonNullable<
  BodyOf<HostingPaths['/installs/{install_id}/mail']['get']>['last_refused']
>[number];

function WebsiteMail({ install }: { install: Install }) {
  const queries = useQueryClient();
  const mayWork = useMay(install.account.id)('install.work');
  const params = { path: { install_id: install.id } };
  const key = ['install', install.id, 'mail'];
  const mail = useQuery({
    queryKey: key,
    queryFn: () => unwrap(hosting.GET('/installs/{install_id}/mail', { params })),
  });

  async function limit(text: string) {
    const operationId = await unwrapStarted(
      hosting.PATCH('/installs/{install_id}/mail', {
        params,
        body: { limit_per_hour: text === '' ? null : Number(text) },
      }),
    );
    await Promise.all([
      queries.invalidateQueries({ queryKey: key }),
      queries.invalidateQueries({ queryKey: ['operation', install.id] }),
    ]);
    showOperation(operationId, {
      busy: 'Changing the mail limit.',
      done: 'The mail limit was changed.',
    });
  }

  return (
    <Loaded query={mail} what="the mail of the website">
      {({ can_send, limit_per_hour, most_per_hour, sent_last_hour, queued, sender, last_refused }) => (
        <>
          {!can_send && (
            <Notice tone="bad">
              This platform has no mail server for websites yet, so WordPress cannot send mail. Ask your
              provider, or use an SMTP plugin.
            </Notice>
          )}
          <Facts
            facts={[
              ['Sent in the last hour', `${sent_last_hour} of ${limit_per_hour} recipients`],
              ['Waiting', queued === 1 ? '1 message' : `${queued} messages`],
              ['Bounces go to', <code key="sender">{sender}</code>],
            ]}
          />
          {mayWork && (
            <Form
              key={limit_per_hour}
              submitLabel="Change limit"
              onSubmit={(values) => limit(textOf(values, 'limit_per_hour'))}
            >
              <TextField
                label="Recipients per hour"
                name="limit_per_hour"
                type="number"
                min={0}
                max={most_per_hour}
                step={1}
                defaultValue={limit_per_hour}
                hint={`At most ${most_per_hour}. Enter 0 to switch mail off. Leave it empty for the highest limit.`}
              />
            </Form>
          )}
          {last_refused !== null && last_refused.length > 0 && <RefusedMail messages={last_refused} />}
        </>
      )}
    </Loaded>
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
