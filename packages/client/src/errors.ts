/** One fault of a request, as the API lists it. */
export interface Fault {
  resource: string;
  field: string;
  type: string;
  code: string;
  message: string;
}

/** An error answer of the API. */
export class HomeportError extends Error {
  override readonly name = 'HomeportError';
  readonly status: number;
  /** Every fault of the request body, if the API listed them. */
  readonly faults: readonly Fault[];
  /** Quote it to the operator: the server's log has the same id. */
  readonly requestId: string | null;

  constructor(status: number, message: string, faults: readonly Fault[], requestId: string | null) {
    super(message);
    this.status = status;
    this.faults = faults;
    this.requestId = requestId;
  }
}

/** Thrown if an operation that the client waited for did not succeed. */
export class OperationFailed extends Error {
  override readonly name = 'OperationFailed';
  readonly operationId: string;
  readonly status: 'failed' | 'cancelled';
  /** The user's next step, if the server knows one. */
  readonly advice: string | null;

  constructor(
    operation: { id: string; status: 'failed' | 'cancelled' },
    error: { message: string; advice?: string | null } | null,
  ) {
    super(error?.message ?? `the operation ${operation.id} was cancelled`);
    this.operationId = operation.id;
    this.status = operation.status;
    this.advice = error?.advice ?? null;
  }
}

/** Reads an error answer. An answer of something between, such as a proxy, may have any body. */
export async function errorOf(response: Response): Promise<HomeportError> {
  const body: unknown = await response.json().catch(() => null);
  const message = member(body, 'message');
  const errors = member(body, 'errors');
  return new HomeportError(
    response.status,
    typeof message === 'string'
      ? message
      : `the server answered ${response.status} ${response.statusText}`.trim(),
    Array.isArray(errors) ? errors.map(faultOf) : [],
    response.headers.get('x-request-id'),
  );
}

function faultOf(fault: unknown): Fault {
  const word = (name: string) => {
    const value = member(fault, name);
    return typeof value === 'string' ? value : '';
  };
  return {
    resource: word('resource'),
    field: word('field'),
    type: word('type'),
    code: word('code'),
    message: word('message'),
  };
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
