/** The expression is Python: it runs in a real interpreter here, as a kernel would evaluate it. */
import { execFileSync } from 'node:child_process';
import type { Kernel } from '@jupyterlab/services';
import { describe, expect, it } from 'vitest';
import { valueText, variables } from '../../src/lab/variables';

/** A kernel whose namespace is what `setup` leaves behind. */
function kernel(setup: string, status = 'idle'): Kernel.IKernelConnection {
  const requestExecute = (content: { user_expressions: Record<string, string> }) => ({
    done: Promise.resolve().then(() => {
      const program = `
import sys, json
ns = {}
exec(sys.argv[1], ns)
before = set(ns)
try:
    answer = {"status": "ok", "data": {"text/plain": repr(eval(sys.argv[2], ns))}}
except Exception as e:
    answer = {"status": "error", "ename": type(e).__name__}
assert set(ns) == before, "the expression left a name behind"
print(json.dumps(answer))`;
      const out = execFileSync('python3', ['-c', program, setup, content.user_expressions.cashcode], {
        encoding: 'utf8'
      });
      return { content: { status: 'ok', user_expressions: { cashcode: JSON.parse(out) as unknown } } };
    }),
    dispose: () => undefined
  });
  return {
    status,
    connectionStatus: 'connected',
    isDisposed: false,
    requestExecute
  } as unknown as Kernel.IKernelConnection;
}

describe('variables', () => {
  it('are told newest first with type and size, without modules, functions, classes and private names', async () => {
    const setup =
      'import os\nrows = [1, 2, 3]\ndef f(): pass\nclass C: pass\n_secret = 1\nprice = 2.5\nIn = [1]\n名字 = "词"';
    expect(await variables(kernel(setup))).toEqual([
      { name: '名字', type: 'str', size: '1' },
      { name: 'price', type: 'float', size: '' },
      { name: 'rows', type: 'list', size: '3' }
    ]);
  });

  it('are at most fifty', async () => {
    const found = await variables(kernel('globals().update({f"v{i}": i for i in range(200)})'));
    expect(found).toHaveLength(50);
    expect(found[0].name).toBe('v199');
  });

  it('of unknown types are not measured: their code does not run', async () => {
    const setup =
      'class Loud:\n  def __len__(self): raise SystemExit\n  shape = property(lambda self: 1/0)\nloud = Loud()';
    expect(await variables(kernel(setup))).toEqual([{ name: 'loud', type: 'Loud', size: '' }]);
  });

  it('of a busy kernel, or of none, are not asked for', async () => {
    expect(await variables(kernel('x = 1', 'busy'))).toEqual([]);
    expect(await variables(null)).toEqual([]);
  });
});

describe('the value of a variable', () => {
  it('is what the kernel shows', async () => {
    expect(await valueText(kernel('rows = [1, 2]'), 'rows')).toBe('[1, 2]');
  });

  it('of a huge text is asked for only in part', async () => {
    const text = await valueText(kernel('big = "x" * 5_000_000'), 'big');
    expect(text?.length).toBeLessThan(100_010);
  });

  it('is not asked for by anything that is no name', async () => {
    expect(await valueText(kernel('x = 1'), '__import__("os").getcwd()')).toBeUndefined();
  });

  it('is undefined when the name is gone', async () => {
    expect(await valueText(kernel('x = 1'), 'y')).toBeUndefined();
  });
});
