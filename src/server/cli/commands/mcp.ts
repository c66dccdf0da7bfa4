import { command } from '../command.ts';
import { BAD_URL, serverUrl, URL_OPTION, WALLET_OPTION, walletFileOf } from './server.ts';

export interface McpCommand {
  readonly name: 'mcp';
  readonly url: string;
  readonly walletFile: string;
}

export const MCP = command({
  name: 'mcp',
  group: 'server',
  uses: [['', 'tools for agents (MCP) on stdin and stdout; asks first']],
  options: { ...URL_OPTION, ...WALLET_OPTION },
  parse(_rest, values): McpCommand | string {
    const url = serverUrl(values);
    return url === null ? BAD_URL : { name: 'mcp', url, walletFile: walletFileOf(values) };
  },
  async run(args, shell) {
    const { runMcp } = await import('../mcp/run.ts');
    return runMcp(args, shell);
  },
});
