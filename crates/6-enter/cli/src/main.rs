//! The program of the `rockhound` command.

fn main() -> std::process::ExitCode {
    rockhound_cli::main()
}
